"""What names say about groups."""

from rocketproof.traces.encoding.names import Names
from rocketproof.traces.format.schema import Group


def test_a_group_about_which_nothing_is_stated_has_no_strategy_and_the_usual_listeners() -> None:
    names = Names({"B": Group(mode="broadcasting"), "O": Group(listener="orderly", strategy="AVG_BY_CIRCLE")})
    assert [names.is_broadcasting(group) for group in "BOX"] == [True, False, False]
    assert [names.is_orderly(group) for group in "BOX"] == [False, True, False]
    assert [names.strategy(group) for group in "BOX"] == ["AVG", "AVG_BY_CIRCLE", ""]
