"""A door for each library of arrays: its functions and methods, as operations on symbolic arrays."""
