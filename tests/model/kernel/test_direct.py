"""The direct form: the same successors as the plain form in every reachable state, and its errors."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.model.assignment import assignment
from rocketproof.model.consume_queue import Message
from rocketproof.model.consumption import consumption
from rocketproof.model.everything import everything
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import UNBOUNDED, Domain, Int, Machine, ModelError, State, trace
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.kernel.plain import PlainMachine
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
        613,
        1862,
    ),
]


@pytest.mark.parametrize(
    ("machine", "constants", "states", "steps"), [m[1:] for m in MACHINES], ids=[m[0] for m in MACHINES]
)
def test_every_reachable_state_has_the_successors_of_the_plain_form(
    machine: Machine, constants: dict[str, Any], states: int, steps: int
) -> None:
    configuration = machine.configure(**constants)
    traced = trace(configuration)
    plain, direct = PlainMachine(traced), Direct(configuration)
    assert direct.flat(direct.initial) == plain.initial
    seen = {plain.initial: direct.initial}
    waiting = [plain.initial]
    taken = 0
    while waiting:
        state = waiting.pop()
        expected = [(traced.instances[n].action.name, following) for n, following in plain.successors(state)]
        found = list(direct.successors(seen[state]))
        assert [(label.partition("(")[0], direct.flat(following)) for label, following in found] == expected
        taken += len(found)
        for _, following in found:
            flat = direct.flat(following)
            if flat not in seen:
                seen[flat] = following
                waiting.append(flat)
    assert (len(seen), taken) == (states, steps)


def test_thousands_of_messages_cost_nothing_to_build() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=5_000, pull_batch=8, moves=UNBOUNDED))
    state = direct.step(direct.initial, "take", c=0, q=0)
    assert state is not None
    for number in range(3):
        state = direct.step(state, "pull", c=0, q=0)
        assert state is not None
        assert direct.get(state, "next_offset", 0, 0) == 8 * (number + 1)
    assert sum(state["stage"]) == 24
    assert direct.step(state, "begin", c=0, q=0, m=4_999) is None


def test_a_step_shares_what_it_does_not_write() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=3))
    after = direct.step(direct.initial, "take", c=0, q=0)
    assert after is not None
    assert after["handled"] is direct.initial["handled"]
    assert after["owns"] == (True,)
    assert direct.initial["owns"] == (False,)


def test_budgets_count_down_and_unbounded_ones_do_not_exist() -> None:
    counted = Direct(consumption.configure(consumers=1, messages=1, crashes=1))
    after = counted.step(counted.initial, "die", c=0)
    assert after is not None
    assert (counted.initial["crashes_left"], after["crashes_left"]) == ((1,), (0,))
    assert not Direct(consumption.configure(consumers=1, crashes=UNBOUNDED)).has("crashes_left")
    assert "die" not in Direct(consumption.configure(consumers=1)).actions


def test_varied_constants_share_states() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=6))
    state = direct.step(direct.initial, "take", c=0, q=0)
    assert state is not None
    four = direct.varied(pull_batch=4)
    after = four.step(state, "pull", c=0, q=0)
    assert after is not None
    assert direct.get(after, "next_offset", 0, 0) == 4
    with pytest.raises(ModelError, match=r"would change the states of .*: joined"):
        direct.varied(batch=2)


def test_texts_may_be_run_and_asked() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=2))

    def jump(s: State, to: int) -> None:
        s.require(s.next_offset[0, 0] < to)
        s.next_offset[0, 0] = to

    after = direct.run(direct.initial, jump, to=2)
    assert after is not None
    assert direct.ask(after, lambda s: s.next_offset[0, 0] == 2) is True
    assert direct.run(after, jump, to=1) is None
    with pytest.raises(ModelError, match=r"text jump\(to=3\): writes 3 to next_offset\[0, 0\], allowed is 0…2"):
        direct.run(after, jump, to=3)
    with pytest.raises(ModelError, match="must not write: 'next_offset'"):
        direct.ask(after, lambda s: jump(s, 3))


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
        direct.step(direct.initial, "fill", i=0)
    with pytest.raises(ModelError, match=r"machine shelf has no action 'fil' here\. Did you mean 'fill'"):
        direct.step(direct.initial, "fil", i=0)
    with pytest.raises(ModelError, match="the direct form needs numbers"):
        Direct(machine.configure(things=UNBOUNDED))
    assert direct.get(direct.initial, "filled", 7) == 0
    with pytest.raises(ModelError, match="there is no variable"):
        direct.get(direct.initial, "filled")


def test_a_focused_machine_leaves_the_rest_alone() -> None:
    direct = Direct(consumption.configure(consumers=1, messages=9, pull_batch=4))
    state = direct.step(direct.initial, "take", c=0, q=0)
    assert state is not None
    for action in ("pull", "pull"):
        state = direct.step(state, action, c=0, q=0)
        assert state is not None
    assert direct.ask(state, lambda s: s.count(Message, lambda m: s.stage[0, 0, m] == Stage.WAITING)) == 8
    some = direct.focused(Message=range(2, 5))
    assert some.ask(state, lambda s: s.count(Message, lambda m: s.stage[0, 0, m] == Stage.WAITING)) == 3
    after = some.run(state, lambda s: setattr(s, "handled", True))
    assert after is not None
    assert after["handled"] == (False,) * 2 + (True,) * 3 + (False,) * 4
