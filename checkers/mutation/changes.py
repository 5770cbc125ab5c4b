"""Changes: every small mistake that can be made in a text of the model, generated mechanically.

A text is a function of ``model/``: an action, a definition, a rule, or a helper of these. A change takes one place in
its syntax tree and makes it wrong; everything that calls the text, in every machine and configuration, then uses the
wrong one.
"""

from __future__ import annotations
import __future__

import ast
import hashlib
import importlib
import inspect
import pkgutil
import types
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ... import model
from ...model.kernel import Machine, ModelError, Rule, not_
from .calls import called_by

LEFT_OUT = {
    "kernel": "how texts become terms; its engines are held against each other",
    "examples": "classical machines, whose claims are known",
    "presets": "configurations, no semantics",
    "history": "what watches a run for the properties, and changes nothing that happens",
}
"""Folders and modules of the model that contain no mechanism of RocketMQ, and why."""

_NEGATION = "_mutation_not"


class Sort(StrEnum):
    """The kind of a change."""

    GUARD_DROPPED = "guard dropped"
    GUARD_NEGATED = "guard negated"
    CONDITION_DROPPED = "condition dropped"
    UPDATE_DROPPED = "update dropped"
    RESET_SKIPPED = "reset skipped"
    BRANCH_FORCED = "branch forced"
    BOUNDARY_MOVED = "boundary moved"
    CONSTANT_CHANGED = "constant changed"
    UNFAIR = "made unfair"


@dataclass(frozen=True, kw_only=True)
class Change:
    """One generated mutant."""

    id: str  # part, text and number, such as ``orderly_lock.take.3``
    part: str  # the module of the model
    text: str  # name of the function
    sort: Sort  # kind of the change
    line: int  # line in the module
    told: str  # the difference, in words
    # the Python function whose code is replaced; None for an action made unfair
    function: Any = field(default=None, repr=False)
    code: types.CodeType | None = field(default=None, repr=False)  # the wrong code
    action: str = ""  # name of the action that is made unfair; empty for all others
    rule: Rule[..., Any] | None = field(default=None, repr=False)  # the rule to which the text belongs, if any

    @contextmanager
    def made(self) -> Iterator[None]:
        """Inside the block the text is wrong, everywhere in this process; not safe for several threads."""
        if self.function is None or self.code is None:
            yield
            return
        right, names = self.function.__code__, self.function.__globals__
        names[_NEGATION] = not_
        self.function.__code__ = self.code
        try:
            yield
        finally:
            self.function.__code__ = right
            del names[_NEGATION]


def parts() -> list[str]:
    """Names of the parts of the model that have texts to change."""
    names = (module.name.removeprefix(f"{model.__name__}.") for module in _modules())
    return [name for name in names if name.partition(".")[0] not in LEFT_OUT]


def all_changes(part: str = "") -> list[Change]:
    """Every change of a part, or of all parts, in the order of the texts.

    Raises:
        ModelError: there is no such part.
    """
    possible = parts()
    if part and part not in possible:
        raise ModelError(f"there is no part {part!r} with texts to change; possible: {', '.join(possible)}.")
    modules = {name: importlib.import_module(f"{model.__name__}.{name}") for name in possible}
    happens: set[types.CodeType] = set()
    for module in modules.values():
        for machine in _machines(module):
            happens |= called_by(machine, machine.actions)
    changes: list[Change] = []
    for name, module in modules.items():
        if part in ("", name):
            changes.extend(_of_module(name, module, happens))
    return changes


def _machines(module: types.ModuleType) -> Iterator[Machine]:
    yield from (item for item in vars(module).values() if isinstance(item, Machine))


def _modules() -> Iterator[Any]:
    return pkgutil.walk_packages(model.__path__, f"{model.__name__}.")


@dataclass(frozen=True)
class _Text:
    name: str
    node: ast.FunctionDef
    function: Any
    rule: Rule[..., Any] | None


def _of_module(part: str, module: types.ModuleType, happens: Set[types.CodeType]) -> Iterator[Change]:
    # In a module with actions, a text that no action of any machine calls describes what is observed, not what happens.
    has_machine = any(True for _ in _machines(module))
    tree = ast.parse(inspect.getsource(module))
    for text in _texts(tree, module):
        if has_machine and text.rule is None and text.function.__code__ not in happens:
            continue
        for number, (sort, line, told, code) in enumerate(_Editor(text, module).changes(), start=1):
            yield Change(
                id=f"{part}.{text.name}.{number}",
                part=part,
                text=text.name,
                sort=sort,
                line=line,
                told=told,
                function=text.function,
                code=code,
                rule=text.rule,
            )
    declared = {id(text.function): text for text in _texts(tree, module)}
    for machine in _machines(module):
        for action in machine.actions.values():
            if action.fair and id(action.function) in declared:
                line = declared.pop(id(action.function)).node.lineno
                told = f"{action.name} need not happen, however long it can"
                yield Change(
                    id=f"{part}.{action.name}.unfair",
                    part=part,
                    text=action.name,
                    sort=Sort.UNFAIR,
                    line=line,
                    told=told,
                    action=action.name,
                )


def _texts(tree: ast.Module, module: types.ModuleType) -> Iterator[_Text]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            owner = getattr(module, node.name)
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name in vars(owner):
                    yield from _text(f"{node.name}.{inner.name}", inner, vars(owner)[inner.name], module)
        elif isinstance(node, ast.FunctionDef):
            yield from _text(node.name, node, getattr(module, node.name, None), module)


def _text(name: str, node: ast.FunctionDef, found: Any, module: types.ModuleType) -> Iterator[_Text]:
    if any(".mutant" in ast.unparse(item) for item in node.decorator_list) or _only_constants(node):
        return
    rule = found if isinstance(found, Rule) else None
    function = found if isinstance(found, types.FunctionType) else getattr(found, "__wrapped__", None)
    if isinstance(found, property):
        function = found.fget
    if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
        if function.__code__.co_freevars or hasattr(found, "cache_clear"):
            return
        yield _Text(name, node, function, rule)


def _only_constants(node: ast.FunctionDef) -> bool:
    """Whether a text only reads the configuration: it then determines what exists, not what happens."""
    given = node.args.args
    return len(given) >= 1 and given[0].annotation is not None and ast.unparse(given[0].annotation) == "Constants"


class _Editor:
    """Edits one text at each place in turn."""

    def __init__(self, text: _Text, module: types.ModuleType) -> None:
        self._text = text
        self._module = module
        node = text.node
        self._state = node.args.args[0].arg if node.args.args else ""
        self._root = ast.FunctionDef(
            name=node.name, args=_bare(node.args), body=_without_docstring(node.body), decorator_list=[], lineno=1
        )

    def changes(self) -> Iterator[tuple[Sort, int, str, types.CodeType]]:
        for parent, name, place, node in _places(self._root):
            for sort, new, told in self._edits(parent, node):
                code = self._compiled(parent, name, place, new)
                if code is not None:
                    yield sort, getattr(node, "lineno", self._text.node.lineno), told, code

    def _compiled(self, parent: ast.AST, name: str, place: int | None, new: ast.AST) -> types.CodeType | None:
        old = getattr(parent, name) if place is None else getattr(parent, name)[place]
        _put(parent, name, place, new)
        try:
            tree = ast.fix_missing_locations(ast.Module([self._root], []))
            whole = compile(
                tree,
                self._text.function.__code__.co_filename,
                "exec",
                flags=__future__.annotations.compiler_flag,
                dont_inherit=True,
            )
        finally:
            _put(parent, name, place, old)
        found = next(item for item in whole.co_consts if isinstance(item, types.CodeType))
        return found if not found.co_freevars else None

    def _edits(self, parent: ast.AST, node: ast.AST) -> Iterator[tuple[Sort, ast.AST, str]]:
        match node:
            case ast.Expr(value=ast.Call(func=function) as call):
                if self._is_method(function, "require"):
                    yield from self._guards(node, call)
                else:
                    sort = Sort.RESET_SKIPPED if _resets(ast.unparse(function)) else Sort.UPDATE_DROPPED
                    yield sort, ast.Pass(), f"without {_shown(node)}"
            case ast.Assign(targets=[target], value=value) if self._is_write(target):
                sort = Sort.RESET_SKIPPED if _is_nothing(value) else Sort.UPDATE_DROPPED
                yield sort, ast.Pass(), f"without {_shown(node)}"
            case ast.Call(func=function, args=args) if _name(function) in ("all_of", "any_of") and len(args) > 1:
                for number, item in enumerate(args):
                    rest = [other for place, other in enumerate(args) if place != number]
                    told = f"{_shown(node)} without {_shown(item)}"
                    yield Sort.CONDITION_DROPPED, ast.Call(function, rest, []), told
                    if _name(function) == "all_of" and not isinstance(item, ast.Starred | ast.GeneratorExp):
                        changed = [*args[:number], _negated(item), *args[number + 1 :]]
                        yield Sort.GUARD_NEGATED, ast.Call(function, changed, []), f"not {_shown(item)}"
            case ast.Call(func=function, args=[left, right]) if _name(function) == "implies":
                yield Sort.CONDITION_DROPPED, right, f"{_shown(right)} without the condition {_shown(left)}"
            case ast.Call(func=function, args=[condition, yes, no]) if _name(function) == "ite":
                yield Sort.BRANCH_FORCED, yes, f"always {_shown(yes)}, whether or not {_shown(condition)}"
                yield Sort.BRANCH_FORCED, no, f"always {_shown(no)}, whether or not {_shown(condition)}"
            case ast.Call(func=function, args=[first, second]) if _name(function) in ("minimum", "maximum"):
                yield Sort.BRANCH_FORCED, first, f"{_shown(first)} for {_shown(node)}"
                yield Sort.BRANCH_FORCED, second, f"{_shown(second)} for {_shown(node)}"
            case ast.withitem(context_expr=ast.Call(func=function, args=[condition])) if self._is_method(
                function, "when"
            ):
                for value in (True, False):
                    call = ast.Call(function, [ast.Constant(value)], [])
                    told = f"{'always' if value else 'never'} what happens when {_shown(condition)}"
                    yield Sort.BRANCH_FORCED, ast.withitem(call, None), told
            case ast.IfExp(test=test, body=yes, orelse=no):
                yield Sort.BRANCH_FORCED, yes, f"always {_shown(yes)}, whether or not {_shown(test)}"
                yield Sort.BRANCH_FORCED, no, f"always {_shown(no)}, whether or not {_shown(test)}"
            case ast.If(test=test, body=body, orelse=other):
                for value in (True, False):
                    told = f"{'as if' if value else 'as if not'} {_shown(test)}"
                    yield Sort.BRANCH_FORCED, ast.If(ast.Constant(value), body, other), told
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                yield Sort.CONDITION_DROPPED, left, f"{_shown(node)} without {_shown(right)}"
                yield Sort.CONDITION_DROPPED, right, f"{_shown(node)} without {_shown(left)}"
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _MOVED:
                moved = ast.Compare(left, [_MOVED[type(operator)]()], [right])
                yield Sort.BOUNDARY_MOVED, moved, f"{_shown(moved)} for {_shown(node)}"
            case ast.Constant(value=bool() as value) if isinstance(parent, ast.Return):
                yield Sort.BRANCH_FORCED, ast.Constant(not value), f"{not value} for {value}"
            case ast.Constant(value=int() as value) if not isinstance(value, bool) and not _is_index(parent, node):
                yield Sort.CONSTANT_CHANGED, ast.Constant(value + 1), f"{value + 1} for {value} in {_shown(parent)}"
                if value > 0:
                    told = f"{value - 1} for {value} in {_shown(parent)}"
                    yield Sort.CONSTANT_CHANGED, ast.Constant(value - 1), told
            case ast.Name(id=name, ctx=ast.Load()) if name.isupper() and type(getattr(self._module, name, None)) is int:
                more = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), ast.Constant(1))
                yield Sort.CONSTANT_CHANGED, more, f"{name} + 1 for {name}"

    def _guards(self, node: ast.Expr, call: ast.Call) -> Iterator[tuple[Sort, ast.AST, str]]:
        for number, item in enumerate(call.args):
            rest = [other for place, other in enumerate(call.args) if place != number]
            yield Sort.GUARD_DROPPED, ast.Expr(ast.Call(call.func, rest, [])), f"without the guard {_shown(item)}"
            changed = [*call.args[:number], _negated(item), *call.args[number + 1 :]]
            yield Sort.GUARD_NEGATED, ast.Expr(ast.Call(call.func, changed, [])), f"the guard is not {_shown(item)}"

    def _is_method(self, function: ast.expr, name: str) -> bool:
        return isinstance(function, ast.Attribute) and function.attr == name and _name(function.value) == self._state

    def _is_write(self, target: ast.expr) -> bool:
        while isinstance(target, ast.Subscript):
            target = target.value
        return isinstance(target, ast.Attribute) and _name(target.value) == self._state


_MOVED: dict[type[ast.cmpop], Callable[[], ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_RESETTING = ("forget", "clear", "reset", "empty", "close", "lose", "disbelieve", "end")


def _places(root: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node below the signature with its parent, field and position in it."""
    stack: list[tuple[ast.AST, str, int | None, ast.AST]] = [
        (root, "body", place, node) for place, node in reversed(list(enumerate(root.body)))
    ]
    while stack:
        parent, name, place, node = stack.pop()
        yield parent, name, place, node
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.arguments):
            continue
        inner: list[tuple[ast.AST, str, int | None, ast.AST]] = []
        for field_name, value in ast.iter_fields(node):
            if field_name in ("annotation", "returns", "decorator_list"):
                continue
            if isinstance(value, ast.AST):
                inner.append((node, field_name, None, value))
            elif isinstance(value, list):
                inner.extend((node, field_name, i, item) for i, item in enumerate(value) if isinstance(item, ast.AST))
        stack.extend(reversed(inner))


def _put(parent: ast.AST, name: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[place] = node


def _bare(given: ast.arguments) -> ast.arguments:
    """Parameters without annotations; defaults belong to the function object and stay there."""
    plain = [[ast.arg(item.arg) for item in group] for group in (given.posonlyargs, given.args, given.kwonlyargs)]
    return ast.arguments(
        plain[0],
        plain[1],
        ast.arg(given.vararg.arg) if given.vararg else None,
        plain[2],
        [None] * len(plain[2]),
        ast.arg(given.kwarg.arg) if given.kwarg else None,
        [],
    )


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return body[1:] or [ast.Pass()] if told else body


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _negated(node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(_NEGATION, ast.Load()), [node], [])


def _is_index(parent: ast.AST, node: ast.AST) -> bool:
    return isinstance(parent, ast.Subscript) and parent.slice is node


def _is_nothing(value: ast.expr) -> bool:
    """Whether a write sets a variable to its initial value: false, zero, nothing."""
    if isinstance(value, ast.Lambda):
        value = value.body
    if isinstance(value, ast.Constant):
        return not value.value
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith(".empty")


def _resets(function: str) -> bool:
    return function.rpartition(".")[2].lstrip("_").startswith(_RESETTING)


def _shown(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node)) if not isinstance(node, ast.operator) else ""
    return text if len(text) <= 90 else text[:87] + "…"


def stratified(changes: list[Change], sample: int, seed: int) -> list[Change]:
    """A sample in which each part and kind has about its share; the same for the same seed.

    A change is chosen by a digest of what it does. If a text in another part changes, or a change is added or removed
    there, only changes at the edge of the sample are affected.

    Raises:
        ModelError: a sample of less than one.
    """
    if sample < 1:
        raise ModelError(f"a sample of {sample} is none; give at least 1.")
    strata: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        strata.setdefault((change.part, change.sort), []).append(change)
    turns: list[tuple[float, str]] = []
    for stratum, inside in strata.items():
        # The first change of a small stratum is also placed by chance, so that small strata are neither all in nor all
        # out.
        begins = chance(seed, *stratum)
        ordered = sorted(inside, key=lambda change: (chance(seed, *stratum, change.text, change.told), change.id))
        turns.extend(((place + begins) / len(ordered), change.id) for place, change in enumerate(ordered))
    chosen = {name for _, name in sorted(turns)[:sample]}
    return [change for change in changes if change.id in chosen]


def chance(*names: object) -> float:
    """A number from 0 to below 1 that depends only on names."""
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
