"""What is canonical, as data: formulas read off the catalogue, the letters they go by, the slips they suffer."""
