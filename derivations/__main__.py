"""The command line as `python -m derivations`."""

from derivations.cli import main

if __name__ == "__main__":
    main()
