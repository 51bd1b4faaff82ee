"""The readers of configurations: every module here is found by itself, and its readers by their `@family`."""
