"""What was found in documents, as people and programs read it."""
