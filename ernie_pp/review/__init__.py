"""From the entities of a document to the fields a reviewer wants: values, pages, figures, baselines."""
