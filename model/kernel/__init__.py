"""The kernel: machines written once over Z3 terms, from which every engine derives what it runs.

Reading order: ``terms`` (values), ``domains`` (types), ``declarations`` and ``machine`` (what a machine is made of),
``state`` (what an action or property text sees), ``declared`` (classes of states), ``mutant`` (definitions, and bugs
that change them), ``frame`` (what a configuration declares), ``lowering`` and ``lower`` (texts to terms), ``lowered``
(the result), ``beginning`` (initial states), ``program`` (terms to straight-line code), ``layout`` (packed states),
``plain`` (Python form), ``native`` (machine-code form), ``rule`` (decision functions). Imports follow this order,
without circles.
"""

from .declarations import UNBOUNDED, Action, Constant, Constants, Lifetime, Variable
from .declared import Declared, constant, variable
from .domains import Domain, Elements, Int, MemberSet, SetOf
from .errors import ConfigurationError, ModelError, nearest
from .lower import Predicate, lower, readable
from .lowered import Cell, CellKey, Check, Family, Instance, Lowered, LoweredPredicate
from .machine import Configuration, Machine
from .mutant import Definition, Explanation, Mutant
from .rule import Rule, rule
from .state import State
from .terms import BoolLike, IntLike, Term, all_of, any_of, implies, ite, maximum, minimum, not_, same, total

__all__ = [
    "UNBOUNDED",
    "Action",
    "BoolLike",
    "Cell",
    "CellKey",
    "Check",
    "Configuration",
    "ConfigurationError",
    "Constant",
    "Constants",
    "Declared",
    "Definition",
    "Domain",
    "Elements",
    "Explanation",
    "Family",
    "Instance",
    "Int",
    "IntLike",
    "Lifetime",
    "Lowered",
    "LoweredPredicate",
    "Machine",
    "MemberSet",
    "ModelError",
    "Mutant",
    "Predicate",
    "Rule",
    "SetOf",
    "State",
    "Term",
    "Variable",
    "all_of",
    "any_of",
    "constant",
    "implies",
    "ite",
    "lower",
    "maximum",
    "minimum",
    "nearest",
    "not_",
    "readable",
    "rule",
    "same",
    "total",
    "variable",
]
