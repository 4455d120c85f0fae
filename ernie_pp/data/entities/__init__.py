"""Documents with their entities: formats, places of entities in the text, tags."""
