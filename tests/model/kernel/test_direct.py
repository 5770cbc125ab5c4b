"""The direct form: the same successors as the plain form in every reachable state, and its errors."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.model.assignment import assignment
from rocketproof.model.consume_queue import Message
from rocketproof.model.consumption import consumption
from rocketproof.model.everything import everything
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import UNBOUNDED, Domain, Int, Machine, ModelError, State, lower
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.model.orderly_lock import orderly_lock
from rocketproof.model.process_queue import Stage

MACHINES: list[tuple[str, Machine, dict[str, int | str], int, int]] = [
    ("two-phase commit", two_phase_commit.machine, {"managers": 3}, 288, 1145),
    (
        "assignment",
        assignment,
        {"consumers": 2, "running": 1, "brokers": 1, "queues": 2, "crashes": 1, "steps": "fine"},
        130,
        422,
    ),
    (
        "moves",
        consumption,
        {"messages": 2, "consumers": 1, "moves": 1, "orphans": 1, "failures": 1, "causes": 1},
        537,
        1607,
    ),
    ("batches", consumption, {"messages": 3, "consumers": 1, "batch": 2, "pull_batch": 2, "failures": 1}, 70, 124),
    (
        "requests under way",
        consumption,
        {"messages": 2, "consumers": 1, "pulls": "fine", "moves": 1, "arriving": 1, "piggyback": 1},
        451,
        1262,
    ),
    (
        "orderly",
        consumption,
        {"listener": "orderly", "consumers": 1, "messages": 1, "moves": 1, "client_window": 1, "broker_window": 1}
        | {"unlock_delay": 0, "call": 1, "failures": 1, "orphans": 1, "forced_unlock": 1},
        177,
        499,
    ),
    (
        "retries",
        consumption,
        {"queues": 2, "messages": 2, "retry_room": 1, "copies": 1, "failures": 1, "consumers": 1, "refused": 1},
        54,
        87,
    ),
    (
        "broadcasting",
        consumption,
        {"mode": "broadcasting", "messages": 1, "consumers": 1, "torn_writes": 1, "restarts": 1, "expiries": 1},
        137,
        227,
    ),
    (
        "filter",
        consumption,
        {"messages": 2, "consumers": 1, "expression": "Aa", "next_expression": "C", "tags": "Aa,C", "crashes": 1}
        | {"restarts": 1},
        49,
        67,
    ),
    (
        "correction",
        consumption,
        {"messages": 2, "consumers": 1, "retentions": 1, "corrections": "steps", "version": "4.9.8"}
        | {"held_updates": 1},
        95,
        188,
    ),
    (
        "everything",
        everything,
        {"consumers": 2, "running": 0, "brokers": 1, "queues": 1, "messages": 1, "leaves": 1},
        832,
        2452,
    ),
    ("steps", orderly_lock, {"consumers": 1, "pauses": 1, "watch_steps": 1}, 519, 1491),
]


@pytest.mark.parametrize(
    ("machine", "constants", "states", "steps"), [m[1:] for m in MACHINES], ids=[m[0] for m in MACHINES]
)
def test_every_reachable_state_has_the_successors_of_the_plain_form(
    machine: Machine, constants: dict[str, Any], states: int, steps: int
) -> None:
    configuration = machine.configure(**constants)
    lowered = lower(configuration)
    plain, direct = PlainMachine(lowered), Direct(configuration)
    assert direct.flat() == plain.initial
    seen = {plain.initial}
    waiting = [plain.initial]
    taken = 0
    while waiting:
        state = waiting.pop()
        expected = [(lowered.instances[n].action.name, following) for n, following in plain.successors(state)]
        direct.become(state)
        found = list(direct.successors())
        assert direct.flat() == state
        assert [(label.partition("(")[0], following) for label, following in found] == expected
        taken += len(found)
        for _, following in found:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    assert (len(seen), taken) == (states, steps)


def test_messages_cost_nothing_until_they_come() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=5_000_000, pull_batch=8, moves=UNBOUNDED))
    assert direct.step("take", c=0, q=0)
    for number in range(3):
        direct.focus(Message=range(24))
        assert direct.step("pull", c=0, q=0)
        assert direct.get("next_offset", 0, 0) == 8 * (number + 1)
    assert sum(direct.get("stage", 0, 0, m) for m in range(30)) == 24
    assert not direct.step("begin", c=0, q=0, m=4_999_999)


def test_what_was_done_can_be_undone() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=3))
    before = direct.flat()
    mark = direct.mark()
    assert direct.step("take", c=0, q=0)
    middle, taken = direct.mark(), direct.flat()
    assert direct.enabled("pull", c=0, q=0)
    assert direct.flat() == taken != before
    assert direct.step("pull", c=0, q=0)
    direct.undo(middle)
    assert direct.flat() == taken
    direct.undo(mark)
    assert direct.flat() == before
    assert direct.step("take", c=0, q=0)
    direct.restart()
    assert direct.flat() == before


def test_budgets_count_down_and_unbounded_ones_do_not_exist() -> None:
    counted = Direct(consumption.configure(consumers=1, messages=1, crashes=1))
    assert counted.get("crashes_left") == 1
    assert counted.step("die", c=0)
    assert counted.get("crashes_left") == 0
    assert not Direct(consumption.configure(consumers=1, crashes=UNBOUNDED)).has("crashes_left")
    assert "die" not in Direct(consumption.configure(consumers=1)).actions


def test_constants_may_vary_for_a_step() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=6))
    assert direct.step("take", c=0, q=0)
    assert direct.step("pull", varied={"pull_batch": 4}, c=0, q=0)
    assert direct.get("next_offset", 0, 0) == 4
    assert direct.step("pull", c=0, q=0)
    assert direct.get("next_offset", 0, 0) == 5
    with pytest.raises(ModelError, match=r"would change the states of .*: joined"):
        direct.step("pull", varied={"batch": 2}, c=0, q=0)


def test_texts_may_be_run_and_asked() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=2))

    def jump(s: State, to: int) -> None:
        s.require(s.next_offset[0, 0] < to)
        s.next_offset[0, 0] = to

    assert direct.run(jump, to=2)
    assert direct.ask(lambda s: s.next_offset[0, 0] == 2) is True
    assert not direct.run(jump, to=1)
    with pytest.raises(ModelError, match=r"text jump\(to=3\): writes 3 to next_offset\[0, 0\], allowed is 0…2"):
        direct.run(jump, to=3)
    with pytest.raises(ModelError, match="must not write: 'next_offset'"):
        direct.ask(lambda s: jump(s, 3))


class Item(Domain, size="things"):
    """Items."""


def test_what_cannot_be_run_is_told() -> None:
    machine = Machine("shelf")
    machine.constant("things", 2)
    machine.variable("filled", Int(0, 9), Item)

    @machine.action
    def fill(s: State, i: Item) -> None:
        s.filled[i] = True

    direct = Direct(machine.configure())
    with pytest.raises(ModelError, match=r"action fill\(i=0\): 'filled' holds a whole number, but is given True"):
        direct.step("fill", i=0)
    with pytest.raises(ModelError, match=r"machine shelf has no action 'fil' here\. Did you mean 'fill'"):
        direct.step("fil", i=0)
    with pytest.raises(ModelError, match="the direct form needs numbers"):
        Direct(machine.configure(things=UNBOUNDED))
    assert direct.get("filled", 7) == 0
    with pytest.raises(ModelError, match="there is no variable"):
        direct.get("filled")


def test_a_focused_machine_leaves_the_rest_alone() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=9, pull_batch=4))
    assert direct.step("take", c=0, q=0)
    for _ in range(2):
        assert direct.step("pull", c=0, q=0)
    assert direct.ask(lambda s: s.count(Message, lambda m: s.stage[0, 0, m] == Stage.WAITING)) == 8
    direct.focus(Message=range(2, 5))
    assert direct.ask(lambda s: s.count(Message, lambda m: s.stage[0, 0, m] == Stage.WAITING)) == 3
    assert direct.run(lambda s: setattr(s, "handled", True))
    direct.focus(Message=None)
    assert [direct.get("handled", 0, m) for m in range(9)] == [False] * 2 + [True] * 3 + [False] * 4
