"""The lowering: it gives the reads and writes of a machine's texts their meaning as Z3 terms.

Bounded domains are unrolled: one cell for each index. Unbounded ones become Z3 arrays, symbolic parameters and
quantifiers, from the same texts.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import z3

from .declarations import Constants, Lifetime
from .domains import Domain, Elements, MemberSet
from .errors import ModelError, nearest
from .frame import Frame
from .lowered import Cell, CellKey, Check, Family
from .state import FamilyView
from .terms import BoolLike, IntLike, Term, all_of, any_of, as_bool, as_int, implies, ite, not_, same, total


@dataclass(frozen=True)
class Spelled:
    """A member of a family as it is spelled in messages: only when the text is read, as spelling terms takes long."""

    family: Family
    index: tuple[IntLike, ...]

    def __str__(self) -> str:
        dims = zip(self.family.dims, self.index, strict=False)
        parts = (_brief(str(item)) if isinstance(item, Term) else f"{dim.label}{item}" for dim, item in dims)
        return f"{self.family.name}[{', '.join(parts)}]" if self.index else self.family.name


def _brief(term: str) -> str:
    return term if len(term) <= 40 else "…"


@dataclass
class Recording:
    """What one action or predicate text has done so far."""

    title: str
    read_only: bool
    guards: list[Any] = field(default_factory=list)
    next_values: dict[CellKey, Any] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    symbols: list[Any] = field(default_factory=list)
    fresh: int = 0
    definitions: list[Any] = field(default_factory=list)
    written: dict[object, object] = field(default_factory=dict)
    bound: int = 0


class Lowering:
    """Gives a :class:`State` its meaning: reads build terms, writes are recorded."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.path: list[BoolLike] = []
        self._recording = Recording("initial state", read_only=True)

    def record(self, title: str, *, read_only: bool) -> Recording:
        """Start a new text."""
        self._recording = Recording(title, read_only)
        self.path = []
        return self._recording

    @property
    def constants(self) -> Constants:
        """The constants of the configuration."""
        return self.frame.constants

    def replacement(self, definition: str) -> Callable[..., Any] | None:
        """The text that the machine uses in the place of a definition, if any."""
        return self.frame.configuration.machine.replacements.get(definition)

    def elements(self, domain: type[Domain]) -> Elements:
        """The elements of a domain in the configuration."""
        return self.frame.elements(domain)

    def living_in(self, lifetime: Lifetime) -> list[tuple[str, Any]]:
        """Names of the variables that live in something, each with the value that it has once that ends."""
        return self.frame.living_in(lifetime)

    # --- what a State can do -----------------------------------------------------------------------------------

    def lookup(self, name: str) -> Any:
        """Value of a variable or constant, or a view of a family."""
        family = self.frame.families.get(name)
        if family is not None:
            index_count = len(family.dims) - (family.member_of is not None)
            return self.read(name, ()) if index_count == 0 else FamilyView(self, name)
        if name in self.frame.constants:
            return self.frame.constants[name]
        if name in self.frame.configuration.machine.variables:
            raise ModelError(
                f"{self.where()}: variable {name!r} is switched off in {self.frame.configuration.brief()}; "
                "switch the text that uses it off as well (when=…)."
            )
        possible = [*self.frame.families, *self.frame.constants]
        raise ModelError(f"{self.where()}: there is no variable {name!r}.{nearest(name, possible)}")

    def read(self, name: str, index: tuple[IntLike, ...]) -> Any:
        """Value before the action at ``index``; a view or a set when indices are missing."""
        family = self.frame.families[name]
        self._check_index_count(family, index)
        missing = len(family.dims) - len(index)
        if missing == 1 and family.member_of is not None:
            return MemberSet(family.member_of, lambda item: self.read(name, (*index, item)))
        if missing:
            return FamilyView(self, name, index)
        return self._select(family, index, 0, (), ())

    def assign(self, name: str, index: tuple[IntLike, ...], value: Any) -> None:
        """Record a write."""
        if self._recording.read_only:
            raise ModelError(f"{self.where()}: a property or a guard must not write, but assigns {name!r}.")
        family = self.frame.families.get(name)
        if family is None:
            if name in self.frame.constants:
                raise ModelError(f"{self.where()}: {name!r} is a constant and cannot be assigned.")
            raise ModelError(
                f"{self.where()}: writes the undeclared variable {name!r}.{nearest(name, self.frame.families)}"
            )
        self._check_index_count(family, index)
        missing = len(family.dims) - len(index)
        if isinstance(value, MemberSet):
            members = value.has
            if family.member_of is None or missing != 1:
                raise ModelError(f"{self.where()}: assigns a set to {name!r}, which is not a set here.")
            if value.elements.name != family.member_of.name:
                raise ModelError(
                    f"{self.where()}: assigns a set of {value.elements.name} to {name!r}, which holds sets of "
                    f"{family.member_of.name}."
                )
            self._assign_rest(family, index, lambda item: members(item))
        elif missing:
            self._assign_rest(family, index, value if callable(value) else lambda *_: value)
        else:
            self._store(family, index, value)

    def require(self, conditions: Iterable[BoolLike]) -> None:
        """Add guards."""
        if self.path:
            raise ModelError(f"{self.where()}: 'require' inside 's.when' would guard the whole action; move it out.")
        self._recording.guards.extend(conditions)

    def quantify(self, domain: type[Domain], holds: Callable[[Any], BoolLike], *, universal: bool) -> BoolLike:
        """Unrolled, or a Z3 quantifier over an unbounded domain."""
        elements = self.frame.elements(domain)
        if elements.bounded:
            join = all_of if universal else any_of
            return join(holds(item) for item in range(elements.size))
        symbol = self.fresh(elements.label)
        item = Term(symbol, False)
        self._recording.bound += 1
        body = holds(item)
        self._recording.bound -= 1
        if universal:
            return Term(z3.ForAll([symbol], as_bool(implies(elements.contains(item), body))), True)
        return Term(z3.Exists([symbol], as_bool(all_of(elements.contains(item), body))), True)

    def count(self, domain: type[Domain], holds: Callable[[Any], BoolLike]) -> IntLike:
        """Number of elements."""
        elements = self.frame.elements(domain)
        if not elements.bounded:
            raise ModelError(
                f"{self.where()}: elements of {elements.name} cannot be counted, its size is unbounded here; "
                "keep a counter variable, or give the constant a number."
            )
        return total(holds(item) for item in range(elements.size))

    def least(self, domain: type[Domain], holds: Callable[[Any], BoolLike], default: IntLike) -> IntLike:
        """Smallest element; over an unbounded domain a fresh symbol with its definition."""
        elements = self.frame.elements(domain)
        if elements.bounded:
            result = default
            for item in reversed(range(elements.size)):
                result = ite(holds(item), item, result)
            return result
        if self._recording.bound:
            raise ModelError(
                f"{self.where()}: 's.least' over the unbounded {elements.name} cannot stand inside a quantifier."
            )
        symbol = self.fresh(f"least_{elements.label}")
        self._recording.symbols.append(symbol)
        least = Term(symbol, False)
        none = self.quantify(domain, lambda item: not_(holds(item)), universal=True)
        first = self.quantify(domain, lambda item: implies(holds(item), least <= item), universal=True)
        found = all_of(elements.contains(least), holds(least), first)
        self._recording.definitions.append(as_bool(ite(none, same(least, default), found)))
        return least

    def fresh(self, label: str) -> Any:
        """A Z3 integer that no other text of this machine has, named by its number in the text.

        The numbers of ``z3.FreshInt`` go on through a process, so a proof would depend on what was computed before.
        """
        self._recording.fresh += 1
        return z3.Int(f"{label}~{self._recording.fresh} of {self.where()}")

    # --- reading and writing cells ------------------------------------------------------------------------------

    def _select(
        self,
        family: Family,
        index: tuple[IntLike, ...],
        position: int,
        fixed: tuple[int | None, ...],
        free: tuple[IntLike, ...],
    ) -> Any:
        if position == len(index):
            cell = self.frame.cells[(family.name, fixed)]
            if not free:
                return Term(cell.symbol, family.is_bool)
            value = Term(z3.Select(cell.symbol, *(as_int(item) for item in free)), family.is_bool)
            if cell.initial == family.low:
                return value  # The value is this outside the domain as well, where nothing is ever written.
            unbounded = (dim for dim in family.dims if not dim.bounded)
            inside = all_of(dim.contains(item) for dim, item in zip(unbounded, free, strict=True))
            return ite(inside, value, False if family.is_bool else family.low)
        elements, item = family.dims[position], index[position]
        if not elements.bounded:
            return self._select(family, index, position + 1, (*fixed, None), (*free, item))
        if not isinstance(item, Term):
            self._check_known_index(family, elements, item)
            return self._select(family, index, position + 1, (*fixed, int(item)), free)
        result: Any = False if family.is_bool else family.low
        for choice in reversed(range(elements.size)):
            result = ite(same(item, choice), self._select(family, index, position + 1, (*fixed, choice), free), result)
        return result

    def _store(self, family: Family, index: tuple[IntLike, ...], value: Any) -> None:
        self._check_kind(family, value)
        identity = (family.name, tuple(map(_identity, index)), tuple(map(_identity, self.path)))
        if identity in self._recording.written:
            raise ModelError(
                f"{self.where()}: writes {Spelled(family, index)} twice; the second write would hide the first. Write "
                "it once, with ite(…), or each time under another s.when(…)."
            )
        self._recording.written[identity] = (index, tuple(self.path))
        self._check_given_indices(family, index)
        if not family.is_bool and not (isinstance(value, enum.IntEnum) and family.enumeration is type(value)):
            self._check(Spelled(family, index), family.allowed, family.contains(value), value)
        self._store_cells(family, index, 0, (), (), all_of(*self.path), value)

    def _store_cells(
        self,
        family: Family,
        index: tuple[IntLike, ...],
        position: int,
        fixed: tuple[int | None, ...],
        free: tuple[IntLike, ...],
        condition: BoolLike,
        value: Any,
    ) -> None:
        if condition is False:
            return
        if position == len(index):
            self._store_cell(self.frame.cells[(family.name, fixed)], free, condition, value)
            return
        elements, item = family.dims[position], index[position]
        if not elements.bounded:
            self._store_cells(family, index, position + 1, (*fixed, None), (*free, item), condition, value)
        elif not isinstance(item, Term):
            self._check_known_index(family, elements, item)
            self._store_cells(family, index, position + 1, (*fixed, int(item)), free, condition, value)
        else:
            for choice in range(elements.size):
                here = all_of(condition, same(item, choice))
                self._store_cells(family, index, position + 1, (*fixed, choice), free, here, value)

    def _store_cell(self, cell: Cell, free: tuple[IntLike, ...], condition: BoolLike, value: Any) -> None:
        before = self._recording.next_values.get(cell.key, cell.symbol)
        plain = as_bool(value) if cell.family.is_bool else as_int(value)
        after = z3.Store(before, *(as_int(item) for item in free), plain) if free else plain
        if condition is not True:
            after = z3.If(as_bool(condition), after, before)
        self._recording.next_values[cell.key] = after

    def _assign_rest(self, family: Family, index: tuple[IntLike, ...], value: Callable[..., Any]) -> None:
        rest = family.dims[len(index) :]
        if all(elements.bounded for elements in rest):
            for choice in itertools.product(*(range(elements.size) for elements in rest)):
                self._store(family, (*index, *choice), value(*choice))
            return
        for partly in itertools.product(*(range(dim.size) if dim.bounded else (None,) for dim in rest)):
            self._assign_array(family, index, partly, value)

    def _assign_array(
        self, family: Family, index: tuple[IntLike, ...], choice: tuple[Any, ...], value: Callable[..., Any]
    ) -> None:
        """Build the array with the given value at ``index`` and everything else as it was."""
        given = len(index)
        if any(isinstance(item, Term) and dim.bounded for item, dim in zip(index, family.dims, strict=False)):
            raise ModelError(
                f"{self.where()}: assigns a part of {family.name!r} at a symbolic bounded index over an unbounded "
                "domain; write it with a parameter instead."
            )
        fixed: tuple[Any, ...] = tuple(
            (item if dim.bounded else None) for item, dim in zip((*index, *choice), family.dims, strict=True)
        )
        cell = self.frame.cells[(family.name, fixed)]
        before = self._recording.next_values.get(cell.key, cell.symbol)
        symbols = [self.fresh(dim.label) for dim in family.dims if not dim.bounded]
        items = iter(Term(symbol, False) for symbol in symbols)
        full = [item if dim.bounded else next(items) for item, dim in zip((*index, *choice), family.dims, strict=True)]
        self._recording.bound += 1
        new = value(*full[given:])
        self._recording.bound -= 1
        self._check_kind(family, new)
        here = all_of(
            *self.path,
            *(dim.contains(item) for dim, item in zip(family.dims, full, strict=True) if not dim.bounded),
            *(same(item, full[place]) for place, item in enumerate(index) if not family.dims[place].bounded),
        )
        plain = as_bool(new) if family.is_bool else as_int(new)
        after = z3.Lambda(symbols, z3.If(as_bool(here), plain, z3.Select(before, *symbols)))
        if not family.is_bool:
            quantified = Term(z3.ForAll(symbols, as_bool(implies(here, family.contains(new)))), True)
            self._recording.checks.append(Check(family.name, family.allowed, as_bool(quantified), z3.IntVal(0)))
        self._recording.next_values[cell.key] = after

    # --- checks ------------------------------------------------------------------------------------------------

    def _check(self, label: Spelled, allowed: str, inside: BoolLike, value: Any) -> None:
        condition = implies(all_of(*self.path), inside)
        if condition is not True:
            self._recording.checks.append(Check(label, allowed, as_bool(condition), as_int(value)))

    def _check_given_indices(self, family: Family, index: tuple[IntLike, ...]) -> None:
        for elements, item in zip(family.dims, index, strict=False):
            if isinstance(item, Term) or not elements.bounded:
                allowed = f"index in 0…{elements.size - 1}"
                self._check(Spelled(family, index), allowed, elements.contains(item), item)

    def _check_kind(self, family: Family, value: Any) -> None:
        is_bool = isinstance(value, bool) or (isinstance(value, Term) and value.is_bool)
        is_number = isinstance(value, int | Term) and not is_bool
        if is_bool != family.is_bool or not (is_bool or is_number):
            wanted = "a truth value" if family.is_bool else "a whole number"
            raise ModelError(f"{self.where()}: {family.name!r} holds {wanted}, but is given {value!r}.")
        if isinstance(value, enum.IntEnum) and type(value) is not family.enumeration:
            holds = family.enumeration.__name__ if family.enumeration else "a plain number"
            raise ModelError(f"{self.where()}: {family.name!r} holds {holds}, but is given {value!r}.")

    def _check_index_count(self, family: Family, index: tuple[IntLike, ...]) -> None:
        if len(index) > len(family.dims):
            raise ModelError(
                f"{self.where()}: {family.name!r} has {len(family.dims)} indices, but is given {len(index)}."
            )

    def _check_known_index(self, family: Family, elements: Elements, item: Any) -> None:
        if not isinstance(item, int) or not 0 <= item < elements.size:
            raise ModelError(
                f"{self.where()}: index {item!r} of {family.name!r} is outside {elements.name} 0…{elements.size - 1}."
            )

    def where(self) -> str:
        """The machine and the text that is lowered, as error messages begin."""
        return f"machine {self.frame.configuration.machine.name}, {self._recording.title}"


def _identity(value: Any) -> object:
    """A key that is equal for equal terms; the caller keeps the term alive, since Z3 reuses ids."""
    return ("term", value.expr.get_id()) if isinstance(value, Term) else value
