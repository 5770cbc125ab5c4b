"""What lives in something is as at first when that ends, in every form of a machine."""

from enum import IntEnum

import pytest

from rocketproof.model.kernel import Domain, Int, Lifetime, Machine, ModelError, State, lower
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.kernel.plain import PlainMachine

pytestmark = pytest.mark.smoke


class Client(Domain, size=2, label="c"):
    pass


class Queue(Domain, size=2, label="q"):
    pass


class Stage(IntEnum):
    ABSENT = 0
    THERE = 1


WINDOW = Lifetime("window", (Client, Queue))
PROCESS = Lifetime("process", (Client,))


def machine() -> Machine:
    made = Machine("lives")
    made.constant("extra", 0, high=1)
    made.variable("filled", bool)
    made.variable("mark", Int(-1, 3), Client, Queue, lives_in=WINDOW)
    made.variable("stage", Stage, Client, Queue, lives_in=WINDOW)
    made.variable("held", bool, Client, Queue, Queue, lives_in=WINDOW)
    made.variable("seen", bool, Client, Queue, lives_in=PROCESS)
    made.variable("more", bool, Client, Queue, when=lambda k: k.extra == 1, lives_in=WINDOW)

    @made.action
    def fill(s: State) -> None:
        s.require(s.filled == False)  # noqa: E712
        s.filled = True
        for c in range(2):
            s.mark[c] = 3
            s.stage[c] = Stage.THERE
            s.held[c] = True
            s.seen[c] = True

    @made.action
    def lose(s: State, c: Client) -> None:
        s.require(s.filled)
        s.reset(WINDOW, c, ended=lambda q: q == 1)

    @made.action
    def die(s: State, c: Client) -> None:
        s.require(s.filled)
        s.reset(PROCESS, c)

    return made


LOST = {"mark[c0, q1]": "-1", "stage[c0, q1]": "ABSENT", "held[c0, q1, q0]": "false", "held[c0, q1, q1]": "false"}
GONE = {"seen[c0, q0]": "false", "seen[c0, q1]": "false"}


@pytest.mark.parametrize(("action", "differs"), [("lose", LOST), ("die", GONE)])
def test_only_what_ended_is_as_at_first(action: str, differs: dict[str, str]) -> None:
    lowered = lower(machine().configure())
    plain = PlainMachine(lowered)
    numbers = {item.label: item.number for item in lowered.instances}
    full = plain.step(plain.initial, numbers["fill"])
    assert full is not None
    after = plain.step(full, numbers[f"{action}(c0)"])
    assert after is not None
    before, now = lowered.show_state(full), lowered.show_state(after)
    assert {name: now[name] for name in now if now[name] != before[name]} == differs

    direct = Direct(machine().configure())
    direct.become(full)
    assert direct.step(action, c=0)
    assert direct.flat() == tuple(map(int, after))


def test_what_cannot_live_there_is_refused() -> None:
    made = Machine("wrong")
    message = "machine wrong: 'late' cannot live in a window: its first domains must be Client, Queue, and its initial"
    with pytest.raises(ModelError, match=message):
        made.variable("late", bool, Queue, lives_in=WINDOW)
    with pytest.raises(ModelError, match=message):
        made.variable("late", Int(0, 3), Client, Queue, init=1, lives_in=WINDOW)
