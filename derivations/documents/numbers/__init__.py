"""Numbers: what a formula of numbers comes to, and whether what is printed shows it."""
