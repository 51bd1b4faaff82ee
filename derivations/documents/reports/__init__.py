"""Reports of what was found in documents, for people and for programs."""
