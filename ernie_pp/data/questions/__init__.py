"""Questions to documents: what files of any layout give of them, checked against the documents' text."""
