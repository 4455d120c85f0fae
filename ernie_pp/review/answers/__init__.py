"""Questions to a document as a reviewer reads them: a page a document, an index, JSON and a sheet."""
