"""The header of a trace as JSON, and one merged header for several files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ...model.delay import DelayTable
from ...model.kernel import ConfigurationError
from .kinds import Kind
from .problems import Problems, Trouble
from .schema import BOTH, BY_BROKERS, MOST_ATTEMPTS, PULLED, TIMERS, VERSION, Group, Header, is_text

MARK = "rocketproof_trace"
"""The member of the header that distinguishes a trace from other JSON; its value is the version of the schema."""

_MODES = {"mode": ("clustering", "broadcasting", BOTH), "listener": ("concurrently", "orderly", PULLED, BOTH)}
_NUMBERS = ("max_attempts", "lowest_max_attempts", "consume_timeout")


def header_json(header: Header) -> dict[str, Any]:
    """The header as a JSON object. Groups are sorted by name, evidence by the order of kinds."""
    return {
        MARK: header.version,
        "source": header.source,
        "evidence": [str(kind) for kind in Kind if kind in header.evidence],
        "delays": header.delays,
        "release": header.release,
        **({"timers": dict(header.timers)} if header.timers else {}),
        "groups": {
            name: {one: value for one, value in vars(group).items() if value is not None}
            for name, group in sorted(header.groups.items())
        },
        "complete": header.complete,
        **({"lacking": _lacking_json(header)} if header.lacking else {}),
        **header.extra,
    }


def _lacking_json(header: Header) -> dict[str, dict[str, list[str]]]:
    """By client and group, in the order of their names; kinds in the order of the enumeration."""
    said: dict[str, dict[str, list[str]]] = {}
    for (client, group), kinds in sorted(header.lacking.items()):
        said.setdefault(client, {})[group] = [str(kind) for kind in Kind if kind in kinds]
    return said


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The header of one file."""

    header: Header  # the header, with defaults for members that the file does not state
    members: frozenset[str] = frozenset()  # names of the members that the file states
    # the same for each group; if this is not known, the values other than the defaults count as stated
    of_groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    file: str = ""

    def said_of(self, group: str) -> dict[str, Any]:
        """The members that are stated for a group."""
        given = vars(self.header.groups[group])
        names = self.of_groups.get(group)
        if names is None:
            names = frozenset(one.name for one in fields(Group) if given[one.name] != one.default)
        return {name: value for name, value in given.items() if name in names and value is not None}


def read_header(given: object, *, file: str, line: int, problems: Problems) -> Stated:
    """The header in a JSON value. Damaged members are reported, and get their defaults."""

    def tell(what: str, kind: Trouble = Trouble.HEADER) -> None:
        problems.add(file, line, what, kind=kind)

    if not isinstance(given, dict):
        tell(f"a JSON object is needed, not {ascii(given)[:60]}")
        return Stated(header=Header(), file=file)
    known: dict[str, Any] = {}
    version = given.get(MARK, VERSION)
    if type(version) is not int or version < 1:
        tell(f"{MARK} is {ascii(version)[:60]}, but a version from 1 on is needed")
    else:
        known["version"] = version
        if version > VERSION:
            tell(f"version {version}, this kit knows {VERSION}; what it knows is read", Trouble.VERSION)
    for name, (fits, wanted) in _PLAIN.items():
        if name in given and fits(given[name]):
            known[name] = given[name]
        elif name in given:
            tell(f"{name} is {ascii(given[name])[:60]}, but {wanted} is needed")
    if known.get("delays"):
        try:
            DelayTable.parse(known["delays"])
        except ConfigurationError as error:
            del known["delays"]
            tell(f"delays: {error}")
    known |= {name: read(given[name], tell) for name, read in _READERS.items() if name in given}
    mine = {MARK, *_PLAIN, *_READERS}
    known["extra"] = {name: value for name, value in given.items() if name not in mine}
    return Stated(
        header=Header(**known),
        members=frozenset(known),
        of_groups={name: _said(given["groups"][name], group) for name, group in known.get("groups", {}).items()},
        file=file,
    )


def _evidence(given: object, tell: Any) -> frozenset[Kind]:
    if not isinstance(given, list):
        tell(f"evidence is {ascii(given)[:60]}, but a list of kinds is needed")
        return frozenset()
    words = set(map(str, Kind))
    for word in given:
        if not isinstance(word, str) or word not in words:
            tell(f"evidence names {ascii(word)[:60]}, which this version does not know", Trouble.UNKNOWN_WORD)
    return frozenset(Kind(word) for word in given if isinstance(word, str) and word in words)


def _lacking(given: object, tell: Any) -> dict[tuple[str, str], frozenset[Kind]]:
    if not isinstance(given, dict) or not all(isinstance(groups, dict) for groups in given.values()):
        tell(f"lacking is {ascii(given)[:60]}, but an object of clients, each with an object of groups, is needed")
        return {}
    named = [(client, group, kinds) for client, groups in given.items() for group, kinds in groups.items()]
    return {(client, group): _evidence(kinds, tell) for client, group, kinds in named}


def _timers(given: object, tell: Any) -> dict[str, int]:
    if not isinstance(given, dict):
        tell(f"timers is {ascii(given)[:60]}, but an object is needed")
        return {}
    timers = {}
    for name, value in given.items():
        if name not in TIMERS:
            tell(f"timers names {ascii(name)[:60]}; possible: {', '.join(TIMERS)}", Trouble.UNKNOWN_WORD)
        elif type(value) is not int or not 0 < value <= MOST_ATTEMPTS:
            tell(f"timer {name} is {ascii(value)[:60]}, but whole milliseconds from 1 on are needed")
        else:
            timers[name] = value
    return timers


def _groups(given: object, tell: Any) -> dict[str, Group]:
    if not isinstance(given, dict):
        tell(f"groups is {ascii(given)[:60]}, but an object is needed")
        return {}
    groups: dict[str, Group] = {}
    for name, members in given.items():
        if not is_text(name):
            tell(f"a group is called {ascii(name)[:60]}, but a text is needed")
            continue
        if not isinstance(members, dict):
            tell(f"group {name} is {ascii(members)[:60]}, but an object is needed")
            members = {}
        known: dict[str, Any] = {}
        for one in fields(Group):
            value = members.get(one.name, one.default)
            possible = _MODES.get(one.name)
            kind = int if one.name in _NUMBERS else str
            if value is one.default:
                continue
            if type(value) is not kind or (possible and value not in possible):
                wanted = " or ".join(possible) if possible else kind.__name__
                tell(f"{one.name} of group {name} is {ascii(value)[:60]}, but {wanted} is needed")
            elif one.name == "consume_timeout" and int(value) < 1:
                tell(f"{one.name} of group {name} is {value}, but whole milliseconds from 1 on are needed")
            elif isinstance(value, int) and abs(value) > MOST_ATTEMPTS:
                tell(f"{one.name} of group {name} is {ascii(value)[:60]}, but {MOST_ATTEMPTS} is the most possible")
            elif isinstance(value, str) and not is_text(value):
                tell(f"{one.name} of group {name} is {ascii(value)[:60]}, but a text is needed")
            else:
                known[one.name] = value
        groups[name] = Group(**known)
    return groups


_PLAIN: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "source": (is_text, "a text"),
    "delays": (is_text, "a text"),
    "release": (is_text, "a text"),
    "complete": (lambda value: isinstance(value, bool), "true or false"),
}
"""Members with a plain value: which values they may have, in code and in words."""

_READERS: Mapping[str, Callable[[object, Any], Any]] = {
    "evidence": _evidence,
    "lacking": _lacking,
    "timers": _timers,
    "groups": _groups,
}


def _said(given: object, group: Group) -> frozenset[str]:
    """What is stated about a group, as far as it could be read."""
    said = given if isinstance(given, dict) else {}
    return frozenset(name for name, value in vars(group).items() if name in said and said[name] == value)


def _evidence_of_all(evidence: Sequence[frozenset[Kind]]) -> frozenset[Kind]:
    """The kinds that some file records; but deaths only if every file that says who has queues records them."""
    deaths = {Kind.CLIENT_CRASH}
    unseen = any(of_one & {Kind.ASSIGN, Kind.REVOKE} and not of_one & deaths for of_one in evidence)
    return frozenset().union(*evidence) - (deaths if unseen else set())


def _with_maxima(group: Group, maxima: set[int]) -> Group:
    """The group whose members have these maxima."""
    ordered = sorted(maxima, key=group.maximum_of)
    lowest = ordered[0] if len(ordered) > 1 else None
    return replace(group, max_attempts=ordered[-1], lowest_max_attempts=lowest) if ordered else group


def merge(stated: Sequence[Stated], problems: Problems) -> Header:
    """One header for all files.

    A member that one file does not state may be stated by another. Evidence is that of all files together: each is
    assumed to have recorded its part of the same run (deaths count as recorded only if every file that says who has
    queues records them). The trace is complete if every file says so. If files contradict each other, the first one
    counts, and the contradiction is reported; mixed releases are no contradiction. Brokers that state different delay
    levels state none for all of them. Of different maxima of a group, the highest and the lowest count.
    """
    if len(stated) < 2:
        return stated[0].header if stated else Header()
    first: dict[str, tuple[Any, str]] = {}
    groups: dict[str, dict[str, tuple[Any, str]]] = {}
    maxima: dict[str, set[int]] = {}
    otherwise: dict[str, list[str]] = {}
    levels_differ = False
    for one in stated:
        header = one.header
        for name in ("delays", "release"):
            if name in one.members and getattr(header, name):
                value = getattr(header, name)
                kept, file = first.setdefault(name, (value, one.file))
                if kept != value and name == "delays":
                    levels_differ = True
                    otherwise.setdefault(f"{name} is {value}, in {file} {kept}", []).append(one.file)
        for group in header.groups:
            known = groups.setdefault(group, {})
            said = one.said_of(group)
            timeout = said.pop("consume_timeout", header.timers.get("consume_timeout"))
            if timeout is not None:
                known["consume_timeout"] = max(timeout, known.get("consume_timeout", (0, ""))[0]), one.file
            maxima.setdefault(group, set()).update(
                said.pop(name) for name in ("max_attempts", "lowest_max_attempts") if name in said
            )
            for name, value in said.items():
                kept, file = known.setdefault(name, (value, one.file))
                if value in (BY_BROKERS, PULLED):
                    known[name] = value, file
                elif kept not in (value, BOTH, BY_BROKERS, PULLED):
                    otherwise.setdefault(f"{name} of group {group} is {value}, in {file} {kept}", []).append(one.file)
                    if name in _MODES:
                        known[name] = BOTH, file
    for what, files in otherwise.items():
        more = f" (and so in {len(files) - 1} more files)" if len(files) > 1 else ""
        problems.add(files[0], 0, what + more, kind=Trouble.DISAGREE)
    if levels_differ:
        del first["delays"]
    extra: dict[str, object] = {}
    timers: dict[str, int] = {}
    lacking: dict[tuple[str, str], frozenset[Kind]] = {}
    for one in stated:
        lacking |= one.header.lacking
        # Deadlines are worst cases, so the longest value of each timer counts.
        timers = {name: max(value, timers.get(name, 0)) for name, value in {**timers, **one.header.timers}.items()}
        extra = {**one.header.extra, **extra}
    return Header(
        version=max(one.header.version for one in stated),
        source="; ".join(dict.fromkeys(one.header.source for one in stated if one.header.source)),
        evidence=_evidence_of_all([one.header.evidence for one in stated]),
        complete=all(one.header.complete for one in stated),
        lacking=lacking,
        timers=timers,
        groups={
            group: _with_maxima(Group(**{name: value for name, (value, _) in known.items()}), maxima[group])
            for group, known in sorted(groups.items())
        },
        extra=extra,
        **{name: value for name, (value, _) in first.items()},
    )
