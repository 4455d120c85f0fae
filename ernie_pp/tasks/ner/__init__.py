"""Named entities: flat and nested ones, in sentences and in documents longer than the model."""
