"""What is decided of an elaborated statement: by the judge alone."""
