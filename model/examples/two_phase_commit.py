"""Two-phase commit: a transaction manager and its resource managers agree to commit or to abort.

After Jim Gray and Leslie Lamport, "Consensus on Transaction Commit" (2004), and its TLA+ module TwoPhase. Messages are
a set that only grows: a message may be received late, or more than once, or never.

========  =========  ======  ===========  =====  =====
managers  impatient  states  transitions  depth  stuck
========  =========  ======  ===========  =====  =====
1         0              12           19      4      0
2         0              56          153      7      0
3         0             288        1,145     10      0
5         0           8,832       58,145     16      0
3         1             459        2,276     10      0
========  =========  ======  ===========  =====  =====

``consistent`` holds always, and for any number of managers; ``committed`` and ``aborted`` are possible, a mixture of
the two is not. With ``impatient=1`` a resource manager that waits for the decision may give up: with 3 managers
``consistent`` is violated after 9 steps.
"""

from __future__ import annotations

from enum import IntEnum

from ..kernel import Domain, Machine, SetOf, State, constant, variable


class Manager(Domain, size="managers", label="r"):
    """The resource managers."""


class Stage(IntEnum):
    """How far a resource manager is."""

    WORKING = 0
    PREPARED = 1
    COMMITTED = 2
    ABORTED = 3


class Decision(IntEnum):
    """What the transaction manager has decided."""

    OPEN = 0
    COMMIT = 1
    ABORT = 2


machine = Machine(
    "two_phase_commit", doc="A transaction manager and its resource managers agree to commit or to abort."
)


@machine.state
class TwoPhaseCommit(State):
    """What the managers have done, sent and heard."""

    managers = constant(3, low=1, doc="number of resource managers")
    impatient = constant(0, high=1, doc="1: a prepared resource manager may give up on its own")
    stage = variable(Stage, Manager, doc="stage of each resource manager")
    decision = variable(Decision, doc="decision of the transaction manager")
    ready = variable(SetOf(Manager), doc="managers whose preparation the transaction manager knows of")
    prepared_sent = variable(SetOf(Manager), doc="managers that have sent 'prepared'")
    commit_sent = variable(bool, doc="the transaction manager has sent 'commit'")
    abort_sent = variable(bool, doc="the transaction manager has sent 'abort'")


@machine.action(tells="{r} prepares and says so")
def prepare(s: TwoPhaseCommit, r: Manager) -> None:
    """A resource manager prepares, and informs the transaction manager."""
    s.require(s.stage[r] == Stage.WORKING)
    s.stage[r] = Stage.PREPARED
    s.prepared_sent = s.prepared_sent.add(r)


@machine.action(tells="{r} aborts by itself")
def choose_to_abort(s: TwoPhaseCommit, r: Manager) -> None:
    """A resource manager aborts before it has prepared, and informs nobody."""
    s.require(s.stage[r] == Stage.WORKING)
    s.stage[r] = Stage.ABORTED


@machine.action(tells="the transaction manager hears that {r} has prepared")
def hear_prepared(s: TwoPhaseCommit, r: Manager) -> None:
    """The transaction manager receives 'prepared'."""
    s.require(s.decision == Decision.OPEN, s.prepared_sent.has(r))
    s.ready = s.ready.add(r)


@machine.action(tells="the transaction manager decides to commit")
def commit(s: TwoPhaseCommit) -> None:
    """The transaction manager commits, once everyone has prepared."""
    s.require(s.decision == Decision.OPEN, s.forall(Manager, lambda r: s.ready.has(r)))
    s.decision = Decision.COMMIT
    s.commit_sent = True


@machine.action(tells="the transaction manager decides to abort")
def abort(s: TwoPhaseCommit) -> None:
    """The transaction manager aborts, at any time before it commits."""
    s.require(s.decision == Decision.OPEN)
    s.decision = Decision.ABORT
    s.abort_sent = True


@machine.action(tells="{r} hears 'commit'")
def hear_commit(s: TwoPhaseCommit, r: Manager) -> None:
    """A resource manager receives 'commit'."""
    s.require(s.commit_sent)
    s.stage[r] = Stage.COMMITTED


@machine.action(tells="{r} hears 'abort'")
def hear_abort(s: TwoPhaseCommit, r: Manager) -> None:
    """A resource manager receives 'abort'."""
    s.require(s.abort_sent)
    s.stage[r] = Stage.ABORTED


@machine.action(when=lambda constants: constants.impatient == 1, tells="{r} waits no longer and aborts")
def give_up(s: TwoPhaseCommit, r: Manager) -> None:
    """The mistake: a manager that has promised to follow the decision aborts without one."""
    s.require(s.stage[r] == Stage.PREPARED)
    s.stage[r] = Stage.ABORTED
