"""Parsing of formulas: text in LaTeX, plain characters or code becomes a syntax tree.

A text becomes tokens, the tokens pieces, the pieces statements; the same grammar reads all three ways of writing.

what                      where
vocabulary, as data       `vocabulary`: commands, functions, units; `signs`; `letters`: what makes a word of letters
tokens                    `tokens`, `numbers`; `latex_signs` < `latex_fonts` < `latex_tokens`; `plain_names`,
                          `plain_tokens`;
                          `arrangement`: lines that go on, bars that open or close, conditions in brackets
grammar, by its parts     `cursor`: a position among tokens; `scripts`: what stands above and below a name;
                          `applications`, `bare_arguments`: functions; `derivatives`; `structures`: fractions, sums,
                          spaces; `rows`: matrices and cases; `relations`; `building`: nodes of what was read
grammar, the whole of it  `atoms`: factors; `grammar`: products, sums, relations; `pieces`: what commas separate;
                          `statements`: chains with their conditions, and `read_formula`;
                          `amounts`: a scale or a unit after the formula
back to text              `latex_text`, `plain_text`, with `text_parts` in common; `printing`: `formula_text`
"""

from derivations.documents.formulas.amounts import with_amount
from derivations.documents.formulas.printing import formula_text, statements_text
from derivations.documents.formulas.statements import Reading, Stop, read_formula

__all__ = ["Reading", "Stop", "formula_text", "read_formula", "statements_text", "with_amount"]
