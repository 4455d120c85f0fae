"""Public sets of entities, as folders on the user's disk have them."""
