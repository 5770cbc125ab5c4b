"""The kernel: machines written once over Z3 terms, from which every engine derives what it runs.

Reading order: ``terms`` (values), ``domains`` (types), ``declarations`` and ``machine`` (what a machine is made of),
``state`` (what a text sees), ``mutant`` (definitions, and bugs that change them), ``frame`` (what a configuration
declares), ``tracer`` and ``trace`` (texts to terms), ``traced`` (the result), ``program`` (terms to straight-line
code), ``layout`` (packed states), ``plain`` (Python form), ``native`` (machine-code form), ``rule`` (decision
functions).
"""

from .declarations import UNBOUNDED, Action, Constant, Constants, Variable
from .domains import Domain, Elements, Int, MemberSet, SetOf
from .errors import ConfigurationError, ModelError, nearest
from .machine import Configuration, Machine
from .mutant import Definition, Explanation, Mutant
from .rule import Rule, rule
from .state import State
from .terms import BoolLike, IntLike, Term, all_of, any_of, implies, ite, maximum, minimum, not_, same, total
from .trace import Predicate, readable, trace
from .traced import Cell, CellKey, Check, Family, Instance, Traced, TracedPredicate

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
    "Definition",
    "Domain",
    "Elements",
    "Explanation",
    "Family",
    "Instance",
    "Int",
    "IntLike",
    "Machine",
    "MemberSet",
    "ModelError",
    "Mutant",
    "Predicate",
    "Rule",
    "SetOf",
    "State",
    "Term",
    "Traced",
    "TracedPredicate",
    "Variable",
    "all_of",
    "any_of",
    "implies",
    "ite",
    "maximum",
    "minimum",
    "nearest",
    "not_",
    "readable",
    "rule",
    "same",
    "total",
    "trace",
]
