"""The shortest run of the model that shows what a recording shows, in a configuration like the recorded group.

A finding that a known bug explains is searched in the machine with the bug, one that needs no bug in the correct
machine. Constants are those of the recording, if a search can handle them: processes, mode, listener, release, batches,
and the faults that were seen. If the bug does not show in such a small configuration, its own configuration is
searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..checkers.catalogue import all_rows
from ..checkers.exploration import Limits
from ..checkers.mutants import MachineMutant, Trials
from ..checkers.run import Run, told
from ..errors import InputError
from ..machine_code.code_cache import user_cache
from ..model.consumption import consumption
from ..model.history import Cause
from ..model.kernel import ConfigurationError, Machine, ModelError, nearest
from ..properties.claim import Claim
from ..properties.property import Kind as Means
from ..properties.property import Property
from ..properties.verdict import Verdict
from ..traces.claims.claims import CODE
from ..traces.conformance.excerpt import excerpt, recorded
from ..traces.engine.findings import Note
from ..traces.explain.by_model import place_of
from ..traces.explain.repetitions import repeated_rows
from ..traces.format.kinds import Kind
from ..traces.format.schema import Group
from .diagnosis import Diagnosis

LIMITS = Limits(states=2_000_000)
"""Limits of each search."""

MOST_PROCESSES = 3

_OF_MEMBERS = frozenset({Kind.HEARTBEAT, Kind.ASSIGN, Kind.DELIVER})
"""Kinds by which a client shows that it is a member."""

Constants = Mapping[str, int | str]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A run that shows what was recorded."""

    finding: str  # the finding that it shows: a claim, or why messages came again
    name: str  # name of the subject, as for ``rocketproof explore`` and ``rerun``
    bug: MachineMutant | None  # the known bug in the machine; None for the correct machine
    machine: Machine  # the machine, with the bug if there is one
    constants: Constants  # where the configuration differs from the machine's defaults
    claimed: Property  # the property that it violates; for the kind *sometimes*, the one for which it is a witness
    run: Run
    like_recorded: bool  # whether the configuration has the recorded values; otherwise it is that of the bug
    # the result of the same property without the bug, in the same configuration; None if there is none
    without: Verdict | None

    @property
    def labels(self) -> tuple[str, ...]:
        """The steps of the run, as ``take(c0,q0)``."""
        return tuple(label.replace(" ", "") for label in told(self.run).labels)


def shortest(diagnosis: Diagnosis, finding: str = "") -> Shown:
    """The shortest run that shows a finding of a recording: a violated claim, or a known bug that explains it; without
    one, the first.

    Raises:
        InputError: nothing is found, there is no such finding, or no run of the model shows it.
    """
    trials = Trials(limits=LIMITS, cache=user_cache())
    claims = [word for word in diagnosis.looked.signs.words if word in CODE]
    bugs = [one.bug for one in diagnosis.candidates]
    if finding and finding not in claims and finding not in bugs:
        files = ", ".join(diagnosis.looked.trace.files)
        raise InputError(
            f"{finding} is not a finding in {files}.{nearest(finding, [*claims, *bugs])} "
            f"Violated: {', '.join(claims) or 'nothing'}; known bugs that explain it: {', '.join(bugs) or 'none'}."
        )
    for one in diagnosis.candidates:
        if finding in ("", one.bug) or finding in one.shared:
            for entry in one.entries:
                about = next((sign for sign in one.shared if sign in CODE), one.bug)
                found = _with_bug(diagnosis, entry, finding if finding in CODE else about, trials)
                if found is not None:
                    return found
    if not finding and not claims:
        return _repetition(diagnosis, trials)
    raise InputError(
        f"no run of the model shows {finding or ', '.join(claims)}: no known bug explains it, and a right machine does "
        "not do it. 'rocketproof check' tells the story of what was recorded."
    )


def _with_bug(diagnosis: Diagnosis, entry: MachineMutant, finding: str, trials: Trials) -> Shown | None:
    machine = entry.machine.mutated(entry.id)
    sizes = {} if entry.machine.name == "everything" else dict(like_recorded(diagnosis, entry.machine, finding))
    for constants in _attempts(entry.mutant.wrong_constants, sizes):
        run = _run(trials, machine, constants, entry.killer)
        if run is None:
            continue
        right = {name: value for name, value in constants.items() if name not in entry.mutant.sets}
        without = _verdict(trials, entry.machine, right, entry.killer)
        if without is Verdict.VIOLATED:
            continue  # the configuration breaks it without the bug as well
        return Shown(
            finding=finding,
            name=entry.id,
            bug=entry,
            machine=machine,
            constants=constants,
            claimed=entry.killer,
            run=run,
            like_recorded=constants != dict(entry.mutant.wrong_constants),
            without=without,
        )
    return None


def _repetition(diagnosis: Diagnosis, trials: Trials) -> Shown:
    """Why messages came again in a recording in which nothing is wrong: the most frequent cause that the model has."""
    causes = Counter(int(cause) for cause in repeated_rows(diagnosis.looked.result)["cause"] if cause)
    for cause, _ in sorted(causes.items(), key=lambda item: (-item[1], item[0])):
        name = f"again-{Cause(cause).name.lower().replace('_', '-')}"
        claim = next(
            (row.subject for row in all_rows() if row.id == name and isinstance(row.subject, Claim)),
            None,
        )
        if claim is None:
            continue
        for constants in _attempts(claim.constants, like_recorded(diagnosis, claim.machine, "")):
            run = _run(trials, claim.machine, constants, claim.property)
            if run is not None:
                return Shown(
                    finding=f"messages came again: {Cause(cause).name}",
                    name=name,
                    bug=None,
                    machine=claim.machine,
                    constants=constants,
                    claimed=claim.property,
                    run=run,
                    like_recorded=constants != dict(claim.constants),
                    without=None,
                )
    raise InputError("nothing is wrong with the recording, and no message came again: there is nothing to reproduce.")


def _attempts(own: Constants, recorded_ones: Constants) -> Iterator[dict[str, int | str]]:
    """Configurations to search: the bug's own with all that is recorded, with the values it allows, and alone."""
    whole = {**own, **recorded_ones}
    yield whole
    if whole != dict(own):
        yield dict(own)


def _run(trials: Trials, machine: Machine, constants: Constants, property: Property) -> Run | None:
    """The run that violates a property, or is a witness of it; None if there is none, or too much to search."""
    try:
        (result,) = trials.check(machine, constants, [property], stop_early=True)
    except (ConfigurationError, ModelError):
        return None
    wanted = Verdict.HOLDS if property.kind is Means.SOMETIMES else Verdict.VIOLATED
    return result.run if result.verdict is wanted and isinstance(result.run, Run) else None


def _verdict(trials: Trials, machine: Machine, constants: Constants, property: Property) -> Verdict | None:
    try:
        (result,) = trials.check(machine, constants, [property], stop_early=True)
    except (ConfigurationError, ModelError):
        return None
    return result.verdict


def like_recorded(diagnosis: Diagnosis, machine: Machine, finding: str) -> Constants:
    """The constants of a machine that the recording shows, if the machine has them, and within its bounds."""
    told_ones = _of_group(diagnosis)
    if machine.name == consumption.name:
        told_ones |= _of_excerpt(diagnosis, finding)
    found: dict[str, int | str] = {}
    for name, value in told_ones.items():
        constant = machine.constants.get(name)
        if constant is None:
            continue
        if isinstance(value, int):
            low, high = constant.low, constant.high
            found[name] = max(value, low) if high is None else min(max(value, low), high)
        elif constant.choices is None or value in constant.choices:
            found[name] = value
    return found


def group_of(diagnosis: Diagnosis) -> tuple[str, Group]:
    """The group that the recording is about: that of the first queue with a finding, otherwise the first one."""
    groups = diagnosis.looked.trace.header.groups
    for place in diagnosis.looked.signs.places:
        if place.group in groups:
            return place.group, groups[place.group]
    for name, group in groups.items():
        return name, group
    named = [place.group for place in diagnosis.looked.signs.places]
    return (named[0] if named else "group"), Group()


def processes(diagnosis: Diagnosis) -> int:
    """Number of clients of its group in the recording."""
    name, _ = group_of(diagnosis)
    found: set[str] = set()
    for batch in diagnosis.looked.trace.batches(("kind", "group", "client")):
        columns = (batch.column(column).to_pylist() for column in ("kind", "group", "client"))
        found.update(
            client
            for kind, group, client in zip(*columns, strict=True)
            if kind in _OF_MEMBERS and client and group == name
        )
    return len(found)


def _of_group(diagnosis: Diagnosis) -> dict[str, int | str]:
    _, group = group_of(diagnosis)
    release = diagnosis.looked.trace.header.release
    found: dict[str, int | str] = {"consumers": min(max(processes(diagnosis), 1), MOST_PROCESSES)}
    found |= {"mode": group.mode, "listener": group.listener, "strategy": group.strategy}
    if release:
        found["version"] = "4.9.8" if release.startswith("4.") else "5.3.3"
    return found


def _of_excerpt(diagnosis: Diagnosis, finding: str) -> dict[str, int | str]:
    """What was recorded about the first message with a finding: numbers of messages, batches, faults."""
    result = diagnosis.looked.result
    rows = result.rows[(result.rows["note"] == Note.NONE) & (result.rows["slot"] >= 0)]
    wanted = CODE.get(finding)
    of_claim = rows[rows["claim"] == wanted] if wanted is not None else rows[rows["claim"] >= 0]
    for row in of_claim[:1]:
        place = place_of(int(row["slot"]), result.names)
        if place is None:
            continue
        stream = recorded(diagnosis.looked.trace, {place}).get(place)
        if stream is None:
            continue
        given = {name: int(row[name]) for name in row.dtype.names}
        named = [result.names.actors[given[role]] for role in ("actor", "other") if given[role] >= 0]
        chosen = excerpt(stream, given, [(actor.name, actor.incarnation) for actor in named])
        if chosen is not None:
            observers = {"causes", "watch_offsets", "watch_clients", "clock"}
            return {name: value for name, value in chosen.constants().items() if value and name not in observers}
    return {}
