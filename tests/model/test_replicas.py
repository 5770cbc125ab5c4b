"""Fail-over: the slave's copy is old, and what it took while the master was away is lost."""

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import ConfigurationError

from .walk import Walk


def test_the_slave_serves_its_copy_and_loses_its_commits_when_the_master_is_back() -> None:
    run = Walk(consumption, messages=2, consumers=1, slaves=1, fail_overs=1)("take(c0, q0)")
    run("pull(c0, q0)", "begin(c0, q0, m0)", "succeed(c0, q0, m0)", "commit(c0, q0)", "copy_offsets")
    run("pull(c0, q0)", "begin(c0, q0, m1)", "succeed(c0, q0, m1)", "fail_over")
    assert (run["committed[q0]"], run["other[q0]"]) == (1, 1)
    assert "copy_offsets" not in run.possible()
    run("commit(c0, q0)", "return_of_master")
    assert (run["committed[q0]"], run["other[q0]"]) == (1, 2)
    run("copy_offsets")
    assert run["other[q0]"] == 1


def test_only_a_slave_can_take_over() -> None:
    with pytest.raises(ConfigurationError, match="slaves=0, fail_overs=1 is not possible; only a slave can take over"):
        consumption.configure(fail_overs=1)
