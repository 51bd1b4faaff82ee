"""The catalogue and the pages of docs/ as a static site, which works from any folder and without a network."""
