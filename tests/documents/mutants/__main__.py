"""`python -m tests.documents.mutants`: see `harness`."""

from tests.documents.mutants.harness import main

main()
