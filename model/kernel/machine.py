"""Machines: constants, variables and guarded actions, declared once and sized by a configuration.

A :class:`Machine` is only a declaration. :meth:`Machine.configure` gives its constants values; ``lower`` (see
``lower.py``) turns the result into Z3 terms from which every engine works. What a constant switches off (``when=``)
leaves no variable and no action behind.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import string
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from .declarations import UNBOUNDED, Action, Constant, Constants, Constraint, Lifetime, Variable, always, earlier
from .declared import Declared
from .domains import Domain, SetOf, ValueType, parameter_domains
from .errors import ConfigurationError, ModelError, nearest
from .mutant import Definition, Explanation, Mutant
from .state import State
from .terms import not_

ActionFunction = TypeVar("ActionFunction", bound=Callable[..., None])
ReplacementFunction = TypeVar("ReplacementFunction", bound=Callable[..., Any])
P = ParamSpec("P")
S = TypeVar("S", bound=State)
R = TypeVar("R")


BEGUN = "begun"
"""The variable that records whether a machine has begun; only a machine that can begin in several ways has it."""

_ONE_TEXT = "let one text refine it, and call a definition of its own there, which the other refines."


@dataclass(frozen=True)
class Configuration:
    """A machine with values for all its constants."""

    machine: Machine
    constants: Constants

    def actions(self) -> set[str]:
        """Names of the actions that exist with these constants."""
        return {
            action.name
            for action in self.machine.actions.values()
            if action.when(self.constants) and (action.budget is None or self.constants[action.budget] != 0)
        }

    @property
    def unbounded(self) -> tuple[str, ...]:
        """Names of the constants that stand for every number."""
        return tuple(name for name in self._open() if name not in self.machine.budgets)

    @property
    def unlimited(self) -> tuple[str, ...]:
        """Names of the budgets that have no limit: what they bound may happen any number of times."""
        return tuple(name for name in self._open() if name in self.machine.budgets)

    def _open(self) -> list[str]:
        return [name for name, value in self.constants.items() if value == UNBOUNDED]

    def __str__(self) -> str:
        return f"{self.machine.name}({', '.join(f'{name}={value}' for name, value in self.constants.items())})"

    def brief(self) -> str:
        """The machine with the constants that differ from their usual values."""
        usual = self.machine.constants
        changed = [f"{name}={value}" for name, value in self.constants.items() if value != usual[name].default]
        return " ".join([self.machine.name, *changed])


@dataclass
class Machine:
    """A state machine under declaration. See the module text of ``kernel`` for a whole example.

    Attributes:
        name: lower-case name, used on the command line.
        doc: what the machine is about, one paragraph.
        mutation: id of the mutant that is in place, if any.
        remembered: names of the variables whose values before the last step are kept.
        beginnings: names of the actions by which it begins, see ``beginning.py``; empty if it has one initial state.
    """

    name: str
    doc: str = ""
    constants: dict[str, Constant] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    constraints: list[Constraint] = field(default_factory=list)
    definitions: dict[str, Definition[Any, Any, Any]] = field(default_factory=dict)
    replacements: dict[str, Callable[..., Any]] = field(default_factory=dict)
    mutants: dict[str, Mutant] = field(default_factory=dict)
    explanations: dict[str, Explanation] = field(default_factory=dict)
    mutation: str = ""
    remembered: list[str] = field(default_factory=list)
    beginnings: list[str] = field(default_factory=list)

    @property
    def budgets(self) -> frozenset[str]:
        """Names of the constants that bound how often actions may happen."""
        return frozenset(action.budget for action in self.actions.values() if action.budget is not None)

    def state(self, states: type[S]) -> type[S]:
        """Declare the variables and constants of a class of states, in its order; see ``declared.py``."""
        for name, declared in vars(states).items():
            if isinstance(declared, Declared):
                add = self.constant if declared.what == "constant" else self.variable
                add(name, *declared.arguments, **declared.options)
        return states

    def constant(
        self,
        name: str,
        default: int | str,
        *,
        low: int = 0,
        high: int | None = None,
        choices: Iterable[str] | None = None,
        doc: str = "",
    ) -> None:
        """Declare a constant; see :class:`Constant`."""
        self._fresh(name)
        constant = Constant(
            name=name,
            default=default,
            low=low,
            high=high,
            choices=tuple(choices) if choices is not None else None,
            doc=doc,
        )
        constant.check(default)
        self.constants[name] = constant

    def constraint(self, *names: str, holds: Callable[[Constants], bool], message: str) -> None:
        """Declare a condition between the constants ``names``; it is not checked if one of them is unbounded."""
        self.constraints.append(Constraint(names, holds, message))

    def variable(
        self,
        name: str,
        kind: ValueType | SetOf,
        *domains: type[Domain],
        init: Any = None,
        when: Callable[[Constants], bool] = always,
        lives_in: Lifetime | None = None,
        doc: str = "",
    ) -> None:
        """Declare a variable (or, with ``domains``, a family); ``init`` defaults to False, the first member, or low.

        A variable that ``lives_in`` something returns to its initial value when that ends, see :meth:`State.reset`.

        Raises:
            ModelError: the name is taken, or the variable cannot live there: its first domains must be those of the
                lifetime, and its initial value must be the usual one.
        """
        self._fresh(name)
        if lives_in is not None and (domains[: len(lives_in.domains)] != lives_in.domains or init is not None):
            needed = ", ".join(domain.__name__ for domain in lives_in.domains)
            raise ModelError(
                f"machine {self.name}: {name!r} cannot live in a {lives_in.name}: its first domains must be {needed}, "
                "and its initial value the usual one."
            )
        self.variables[name] = Variable(
            name=name, kind=kind, domains=domains, init=init, when=when, doc=doc, lives_in=lives_in
        )

    def remember(self, *names: str, when: Callable[[Constants], bool]) -> None:
        """Keep, if ``when`` says so, the values that variables had before the last step: that of ``x`` is ``was_x``.

        Properties can then speak of steps, and not only of states. Every state occurs once for each different set of
        values kept on the way into it, so this is for small configurations.

        Raises:
            ModelError: there is no such variable.
        """
        for name in names:
            variable = self.variables.get(name)
            if variable is None:
                raise ModelError(
                    f"machine {self.name} has no variable {name!r} to remember.{nearest(name, self.variables)}"
                )
            self._fresh(earlier(name))
            self.variables[earlier(name)] = dataclasses.replace(
                variable,
                name=earlier(name),
                when=lambda k, variable=variable: bool(variable.when(k) and when(k)),  # type: ignore[misc]
                doc=f"what {name} was before the last step",
                lives_in=None,
            )
            self.remembered.append(name)

    def remembers(self, constants: Constants) -> tuple[str, ...]:
        """The variables whose values before the last step are kept with these constants."""
        return tuple(name for name in self.remembered if self.variables[earlier(name)].when(constants))

    def end_step(self, s: Any, remembered: Iterable[str]) -> None:
        """The part of every step, whichever action it is, that writes down what is remembered."""
        for name in remembered:
            before = getattr(s, name)
            family = bool(self.variables[name].domains)
            setattr(s, earlier(name), (lambda *index, before=before: before[index]) if family else before)

    @typing.overload
    def action(self, function: ActionFunction, /) -> ActionFunction: ...

    @typing.overload
    def action(
        self,
        /,
        *,
        budget: str | None = None,
        fair: bool | Literal["strongly"] = False,
        when: Callable[[Constants], bool] = ...,
        tells: str = "",
    ) -> Callable[[ActionFunction], ActionFunction]: ...

    def action(
        self,
        function: Callable[..., None] | None = None,
        /,
        *,
        budget: str | None = None,
        fair: bool | Literal["strongly"] = False,
        when: Callable[[Constants], bool] = always,
        tells: str = "",
    ) -> Any:
        """Declare an action: a function of the state and of parameters annotated with domains.

        With ``budget="crashes"`` the action happens at most as often as the constant ``crashes`` says. If that is 0,
        neither the action nor its counter variable ``crashes_left`` exists; if it is ``UNBOUNDED``, the action may
        happen any number of times, and there is no counter.

        For a ``fair`` action, liveness assumes that each instance happens eventually if it stays possible; for one that
        is fair ``"strongly"``, that it happens eventually if it becomes possible again and again.
        """

        def declare(text: ActionFunction) -> ActionFunction:
            name = text.__name__
            if name in self.actions:
                raise ModelError(f"machine {self.name} has two actions named {name}; rename one.")
            parameters = _parameters(text)
            for _, hole, _, _ in string.Formatter().parse(tells):
                if hole is not None and hole not in parameters:
                    raise ModelError(f"action {name}: 'tells' has the hole {{{hole}}}.{nearest(hole, parameters)}")
            if fair not in (True, False, "strongly"):
                raise ModelError(f"action {name}: 'fair' is {fair!r}; give True, False or \"strongly\".")
            self.actions[name] = Action(
                name=name,
                function=text,
                parameters=parameters,
                budget=budget,
                fair=bool(fair),
                strongly_fair=fair == "strongly",
                when=when,
                tells=tells,
                doc=inspect.getdoc(text) or "",
            )
            return text

        return declare if function is None else declare(function)

    @typing.overload
    def beginning(self, function: ActionFunction, /) -> ActionFunction: ...

    @typing.overload
    def beginning(
        self, /, *, when: Callable[[Constants], bool] = ..., tells: str = ""
    ) -> Callable[[ActionFunction], ActionFunction]: ...

    def beginning(
        self,
        function: Callable[..., None] | None = None,
        /,
        *,
        when: Callable[[Constants], bool] = always,
        tells: str = "",
    ) -> Any:
        """Declare a way to begin: an action, whose instances lead to the initial states. See ``beginning.py``.

        The declared initial values must be those that one of the ways leads to. Texts may ask ``s.begun``.
        """

        def declare(text: ActionFunction) -> ActionFunction:
            self.action(fair=True, when=when, tells=tells)(text)
            self._begin_by([text.__name__])
            return text

        return declare if function is None else declare(function)

    def chooses(self, constants: Constants) -> bool:
        """Whether the machine has several ways to begin, with these constants."""
        return any(self.actions[name].when(constants) for name in self.beginnings)

    def begin_step(self, s: Any, action: Action) -> None:
        """The part of every step, whichever action it is, that lets a beginning come once, before everything else."""
        if not self.chooses(s.constants):
            return
        if action.name in self.beginnings:
            s.require(not_(s.begun))
            s.begun = True
        else:
            s.require(s.begun)

    def _begin_by(self, names: Iterable[str]) -> None:
        self.beginnings.extend(names)
        if self.beginnings and BEGUN not in self.variables:
            self.variable(BEGUN, bool, when=self.chooses, doc="whether it has begun")

    def definition(self, function: Callable[Concatenate[S, P], R]) -> Definition[S, P, R]:
        """Declare a definition, which a composition may refine and a mutant may break; see ``mutant.py``."""
        definition = Definition(function)
        if definition.name in self.definitions:
            raise ModelError(f"machine {self.name} has two definitions named {definition.name}; rename one.")
        self.definitions[definition.name] = definition
        return definition

    def refine(self, definition: Definition[Any, P, R]) -> Callable[[ReplacementFunction], ReplacementFunction]:
        """Put another text in the place of ``definition`` in this machine, and in all that include it."""

        def replace_by(function: ReplacementFunction) -> ReplacementFunction:
            if definition.name in self.replacements:
                raise ModelError(f"machine {self.name} refines {definition.name} twice; {_ONE_TEXT}")
            self.replacements[definition.name] = function
            return function

        return replace_by

    def mutant(
        self,
        mutant: str,
        slug: str,
        *,
        killed_by: str,
        of: Definition[Any, Any, Any] | Callable[..., None] | None = None,
        constants: Mapping[str, int | str] | None = None,
        tells: str = "",
    ) -> Callable[[ReplacementFunction], ReplacementFunction]:
        """Declare a mutant: the decorated text goes into the place of ``of``, or is one more action; see ``mutant.py``.

        ``of`` is a definition or an action of this machine, or of another part of the machine that is mutated, or a
        function of the constants by which a variable says how it begins, or where its domain ends. A bug that consists
        only of a wrong constant is declared with :meth:`misconfiguration`.
        """
        if not (of is None or callable(of)):
            raise ModelError(f"mutant {mutant}: of={of!r} is no function; give the action or definition itself.")

        def declare(function: ReplacementFunction) -> ReplacementFunction:
            replaced = of.name if isinstance(of, Definition) else of.__name__ if of is not None else ""
            self._add_mutant(
                Mutant(
                    id=mutant,
                    slug=slug,
                    killed_by=killed_by,
                    constants=dict(constants or {}),
                    replaces=replaced,
                    function=function,
                    tells=tells,
                    doc=inspect.getdoc(function) or "",
                )
            )
            return function

        return declare

    def misconfiguration(
        self,
        mutant: str,
        slug: str,
        *,
        killed_by: str,
        sets: Mapping[str, int | str] | None = None,
        constants: Mapping[str, int | str] | None = None,
        doc: str,
    ) -> None:
        """Declare a mutant that consists only of wrong constants: those in ``sets``; ``constants`` are the other ones.

        Without ``sets``, all of ``constants`` are wrong, and the defaults are right.
        """
        right, wrong = (constants or {}, sets) if sets is not None else ({}, constants or {})
        if not wrong:
            raise ModelError(f"mutant {mutant}: a misconfiguration sets some constant; say which with sets=….")
        self._add_mutant(
            Mutant(id=mutant, slug=slug, killed_by=killed_by, constants=dict(right), sets=dict(wrong), doc=doc)
        )

    def explanation(
        self,
        known: str,
        slug: str,
        *,
        naive: str,
        exact: str,
        constants: Mapping[str, int | str] | None = None,
        doc: str,
    ) -> None:
        """Declare something that looks like a bug but is none; see :class:`Explanation`."""
        self._add_explanation(
            Explanation(id=known, slug=slug, naive=naive, exact=exact, constants=dict(constants or {}), doc=doc)
        )

    def mutated(self, mutant: str) -> Machine:
        """This machine with one of its mutants in place; constants that the mutant needs are still to be set by the
        caller.

        Raises:
            ConfigurationError: there is no such mutant.
            ModelError: this machine lacks what the mutant replaces.
        """
        if mutant not in self.mutants:
            raise ConfigurationError(f"machine {self.name} has no mutant {mutant!r}.{nearest(mutant, self.mutants)}")
        change = self.mutants[mutant]
        declared = self.variables
        if change.replaces and change.replaces not in self.definitions and change.replaces not in self.actions:
            declared = {
                name: variable.with_function(change.replaces, change.function) for name, variable in declared.items()
            }
            if declared == self.variables:
                hint = nearest(change.replaces, [*self.definitions, *self.actions])
                raise ModelError(
                    f"mutant {mutant}: machine {self.name} has no action or definition called {change.replaces!r} to "
                    "replace, and no variable begins or ends with it; a function that texts call is made a definition "
                    "first, with @machine.definition; one that decides from constants what exists cannot be replaced, "
                    f"so let the mutant set constants.{hint}"
                )
        other = dataclasses.replace(
            self,
            name=f"{self.name}~{mutant}",
            actions=dict(self.actions),
            replacements=dict(self.replacements),
            variables=declared,
            mutation=mutant,
        )
        if change.function is None or declared is not self.variables:
            return other
        if change.replaces in self.definitions:
            other.replacements[change.replaces] = change.function
        elif change.replaces:
            replaced = self.actions[change.replaces]
            other.actions[change.replaces] = dataclasses.replace(
                replaced,
                function=change.function,
                parameters=_parameters(change.function),
                tells=change.tells or replaced.tells,
                doc=change.doc,
            )
        else:
            other.action(tells=change.tells)(change.function)
        return other

    def _add_mutant(self, mutant: Mutant) -> None:
        if mutant.id in self.mutants:
            raise ModelError(f"machine {self.name} has two mutants {mutant.id}; rename one.")
        self.mutants[mutant.id] = mutant

    def _add_explanation(self, explanation: Explanation) -> None:
        if explanation.id in self.explanations:
            raise ModelError(f"machine {self.name} explains {explanation.id} twice; leave one out.")
        self.explanations[explanation.id] = explanation

    def include(self, *parts: Machine) -> Machine:
        """Add everything the other machines declare; returns this machine.

        Raises:
            ModelError: a name is declared twice.
        """
        for part in parts:
            for name, constant in part.constants.items():
                self._fresh(name)
                self.constants[name] = constant
            for name, variable in part.variables.items():
                if name == BEGUN and part.beginnings:
                    continue
                self._fresh(name)
                self.variables[name] = variable
            for name, action in part.actions.items():
                if name in self.actions:
                    raise ModelError(f"machine {self.name} has two actions named {name}; rename one.")
                self.actions[name] = action
            for definition in part.definitions.values():
                self.definition(definition.function)
            for name, function in part.replacements.items():
                if name in self.replacements:
                    raise ModelError(f"machine {self.name}: two of its parts refine {name}; {_ONE_TEXT}")
                self.replacements[name] = function
            for mutant in part.mutants.values():
                self._add_mutant(mutant)
            for explanation in part.explanations.values():
                self._add_explanation(explanation)
            self.constraints.extend(part.constraints)
            self.remembered.extend(part.remembered)
            self._begin_by(part.beginnings)
        return self

    def configure(self, **constants: int | str) -> Configuration:
        """Give the constants values; those not named keep their defaults.

        Raises:
            ConfigurationError: an unknown constant or an impossible value.
            ModelError: the budget of an action is not a constant.
        """
        for name in constants:
            if name not in self.constants:
                raise ConfigurationError(
                    f"machine {self.name} has no constant {name!r}.{nearest(name, self.constants)}"
                )
        for action in self.actions.values():  # Checked only here: the constant may be declared by another part.
            if action.budget is not None and action.budget not in self.constants:
                hint = nearest(action.budget, self.constants)
                raise ModelError(f"action {action.name}: its budget {action.budget!r} is not a constant.{hint}")
        values = {
            name: constant.check(constants.get(name, constant.default)) for name, constant in self.constants.items()
        }
        known = Constants(values)
        for constraint in self.constraints:
            bounded = all(values[name] != UNBOUNDED for name in constraint.names)
            if bounded and not constraint.holds(known):
                given = ", ".join(f"{name}={values[name]}" for name in constraint.names)
                raise ConfigurationError(f"{given} is not possible; {constraint.message}.")
        return Configuration(self, known)

    def _fresh(self, name: str) -> None:
        if not name.isidentifier() or name.startswith("_"):
            raise ModelError(f"machine {self.name}: {name!r} is not a possible name; use letters, digits, underscores.")
        if hasattr(State, name) or hasattr(Constants, name):
            raise ModelError(
                f"machine {self.name}: {name!r} cannot name a constant or variable, a state already has a method of "
                "that name; rename it."
            )
        if name in self.constants or name in self.variables:
            raise ModelError(f"machine {self.name} declares {name!r} twice; rename one.")


def _parameters(text: Callable[..., None]) -> dict[str, Any]:
    return parameter_domains(text, f"action {text.__name__}", Domain, enum.IntEnum, bool)
