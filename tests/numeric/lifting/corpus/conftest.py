"""The rows import libraries of the extra `peers`: tests import them, the search for tests does not."""

collect_ignore_glob = ["*.py"]
