"""Tables: what the numbers of a table say of one another."""
