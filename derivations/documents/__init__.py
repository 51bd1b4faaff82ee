"""Reading and judging formulas in documents."""
