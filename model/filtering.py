"""Filtering by tag: what the broker sends, what the client keeps, and how the offset gets past the rest.

The broker keeps one expression for the group, that of the member with the newest subscription (ST-5), and filters all
members' pulls with it (PL-17). What it leaves out is *passed over*: the position moves past it, and nobody ever comes
back to it (FI-3, FI-4). A member's own expression only decides what the member itself drops (FI-1). A pull that names a
newer version of the subscription than the broker has is refused (PL-16), until the heartbeat that carries this version
arrives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import Message, end
from .faults import process_starts
from .kernel import BoolLike, Constants, Int, IntLike, Machine, State, all_of, any_of, ite, not_, same, variable
from .membership import Consumer, Life
from .process_queue import Stage, windows_change, working
from .pull import correct_tags_offset, put, receive, subscription_known
from .tags import Edition, edition_asks, filtered, upgrades

if TYPE_CHECKING:
    from .group import GroupState

filtering = Machine("filtering", doc="The group's expression at the broker, heartbeats, and pulls that pass over.")
filtering.constraint(
    "expression",
    "other_expression",
    "next_expression",
    "pull_batch",
    "batch",
    holds=lambda k: not filtered(k) or k.pull_batch == k.batch == 1,
    message="with expressions, messages are pulled and consumed one by one",
)


def _several(k: Constants) -> bool:
    """Whether it matters whose expression the broker has."""
    return filtered(k) and (k.other_expression != "same" or upgrades(k))


def _first_writer(k: Constants) -> Edition:
    """Initially, the last member's heartbeat is the latest."""
    return Edition.USUAL if k.other_expression == "same" else Edition.OTHER


def _last(k: Constants) -> IntLike:
    consumers: IntLike = k.consumers
    return consumers - 1


@filtering.state
class FilteringState(State):
    """Subscriptions as broker and clients know them."""

    upgraded = variable(bool, Consumer, when=upgrades, doc="started later, with next_expression")
    group_edition = variable(Edition, init=_first_writer, when=_several, doc="what the broker filters with")
    unannounced = variable(bool, Consumer, when=_several, doc="its subVersion is newer than the broker's")
    newest = variable(Int(0, _last), init=_last, when=_several, doc="whose version of the subscription is the highest")
    missed = variable(bool, when=filtered, doc="a pull passed over something that its own client asked for")


def edition(s: GroupState, c: IntLike) -> IntLike:
    """Which expression ``c`` was started with."""
    last = same(c, s.consumers - 1) if s.other_expression != "same" else False
    first = ite(last, Edition.OTHER, Edition.USUAL)
    return ite(s.upgraded[c], Edition.NEXT, first) if upgrades(s.constants) else first


def asks_for(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the expression of ``c`` asks for ``m``."""
    return edition_asks(s, edition(s, c), q, m)


def broker_passes(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """FI-1, PL-17: whether the broker sends ``m``, to any member; it compares hash codes."""
    stored = s.group_edition if _several(s.constants) else Edition.USUAL
    return edition_asks(s, stored, q, m, by_hash=True)


@filtering.definition
def client_keeps(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """FI-1: the client compares tags, and drops a message of which only the hash code fits (``processPullResult``)."""
    return asks_for(s, c, q, m)


@filtering.refine(receive)
def receive_matching(s: GroupState, c: IntLike, q: IntLike) -> None:
    """PL-19, PL-23, FI-3: the next message that passes the broker is put if the client keeps it; none: NO_MATCHED_MSG.

    A message that only the client drops moves the position, but no offset: the offset waits for a NO_MATCHED_MSG or a
    NO_NEW_MSG. ``DefaultMessageStore#getMessage``.
    """
    if not filtered(s.constants):
        put(s, c, q)
        return
    first = s.next_offset[c, q]
    found = s.least(Message, lambda m: all_of(first <= m, m < end(s, q), broker_passes(s, q, m)), default=end(s, q))
    matched = found < end(s, q)
    after = ite(matched, found + 1, end(s, q))

    def kept(m: IntLike) -> BoolLike:
        return all_of(matched, same(m, found), client_keeps(s, c, q, m))

    def skipped(m: IntLike) -> BoolLike:
        return all_of(first <= m, m < after, asks_for(s, c, q, m), not_(kept(m)))

    s.missed = any_of(s.missed, s.exists(Message, skipped))
    s.stage[c, q] = lambda m: ite(kept(m), Stage.WAITING, s.stage[c, q, m])
    s.put_end[c, q] = ite(s.exists(Message, kept), after, s.put_end[c, q])
    s.next_offset[c, q] = after
    if s.counters:
        s.counted[c, q] = s.counted[c, q] + s.exists(Message, kept)
    with s.when(not_(matched)):
        correct_tags_offset(s, c, q, after)


@filtering.definition
def version_announced(s: GroupState, c: IntLike) -> BoolLike:
    """PL-16: the broker's version of the subscription is at least as new as that of ``c``."""
    return not_(s.unannounced[c])


@filtering.refine(subscription_known)
def current_subscription(s: GroupState, c: IntLike) -> BoolLike:
    """PL-16: if the broker has an older version, it answers SUBSCRIPTION_NOT_LATEST; the client asks again 1 s
    later.
    """
    return version_announced(s, c) if _several(s.constants) else True


@filtering.refine(windows_change)
def version_is_now(s: GroupState, c: IntLike) -> None:
    """RB-37: after a change of queues, the subscription of ``c`` has the newest version, which is still to be
    announced.
    """
    if _several(s.constants):
        s.unannounced[c] = True
        s.newest = c


@filtering.refine(process_starts)
def another_expression(s: GroupState, c: IntLike) -> None:
    """EN-9: a process that is started later has the later expression and version."""
    if upgrades(s.constants):
        s.upgraded[c] = True
    version_is_now(s, c)


@filtering.definition
def take_subscription(s: GroupState, c: IntLike) -> None:
    """ST-5: the newer version replaces the expression of the whole group (``ConsumerGroupInfo#updateSubscription``)."""
    s.group_edition = edition(s, c)


@filtering.action(fair=True, tells="a heartbeat of {c} reaches the broker", when=_several)
def heartbeat(s: GroupState, c: Consumer) -> None:
    """ST-4, ST-5: at once after a change, and every 30 s; a version older than the broker's changes nothing.

    If more than two members have unannounced versions, their order is not kept: any of them may count as newer.
    """
    s.require(working(s, c), s.unannounced[c])
    take_subscription(s, c)
    latest = s.newest == c
    s.unannounced = lambda d: all_of(s.unannounced[d], not_(same(c, d)), any_of(not_(latest), s.life[d] == Life.GONE))


_UPGRADE: dict[str, int | str] = {
    "consumers": 1,
    "messages": 2,
    "expression": "Aa",
    "next_expression": "C",
    "tags": "Aa,C",
    "crashes": 1,
    "restarts": 1,
}


filtering.misconfiguration(
    "A3",
    "group-subscribes-different-tags",
    killed_by="offset-never-past-wanted",
    constants={"messages": 2, "expression": "Aa", "tags": "Aa,C"},
    sets={"other_expression": "C"},
    doc="The broker filters the pulls of all members with the expression of one of them, and the offset moves past the "
    "rest: what another member asked for is never delivered. Give consumers with different tags different groups. "
    "Source: #92, #2836, #2954, #2584.",
)


filtering.misconfiguration(
    "A3-rolling",
    "tags-changed-by-rolling-restart",
    killed_by="offset-never-past-wanted",
    constants={"messages": 2, "expression": "Aa", "tags": "Aa,C", "crashes": 1, "restarts": 1},
    sets={"next_expression": "C"},
    doc="A filter change is not retroactive, and during a rolling restart members differ: what was passed over under "
    "the other expression stays so. Start a new group for a new expression.",
)


@filtering.mutant(
    "A4",
    "subscription-version-stale",
    of=version_announced,
    killed_by="wanted-never-passed-over",
    constants=_UPGRADE,
)
def any_version(s: GroupState, c: IntLike) -> BoolLike:
    """A pull is answered before the heartbeat, with the earlier filter.

    Mechanism: the member did not raise its version, so the broker took its old expression for the current one. Source:
        ROCKETMQ-175, fixed in 4.2.0.
    """
    return True


@filtering.mutant(
    "A4-version-zero",
    "expression-never-replaced",
    of=take_subscription,
    killed_by="wanted-never-passed-over",
    constants=_UPGRADE,
)
def keep_subscription(s: GroupState, c: IntLike) -> None:
    """The version is always 0, so the broker keeps the first expression that it received. Source: Go client, PR
    #720.
    """


@filtering.mutant(
    "A3-hash",
    "equal-hash-codes-taken-for-equal-tags",
    of=client_keeps,
    killed_by="unasked-never-delivered",
    constants={"messages": 2, "expression": "Aa", "tags": "Aa,BB"},
)
def keep_everything(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """The client trusts the broker, which compares hash codes: a listener gets what it did not subscribe (FI-1)."""
    return True
