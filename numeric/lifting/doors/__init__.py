"""The interfaces to array libraries: the functions and methods of each as operations on symbolic arrays."""
