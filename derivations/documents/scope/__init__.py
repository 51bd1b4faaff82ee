"""The scope of a statement in a document: shapes, values, definitions and meanings of its letters.

`read_scopes` goes through a document once; `Scopes.at(statement)` answers for one statement.
"""

from derivations.documents.scope.document import Scopes
from derivations.documents.scope.reach import Candidate
from derivations.documents.scope.reading import read_scopes
from derivations.documents.scope.scopes import Scope
from derivations.documents.scope.sections import section_numbers

__all__ = ["Candidate", "Scope", "Scopes", "read_scopes", "section_numbers"]
