"""The readers of configurations: every module here is imported automatically; `@family` registers its readers."""
