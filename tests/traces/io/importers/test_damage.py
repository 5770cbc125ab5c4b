"""Whatever happens to a file, an importer reads what is left of it, the same each time, and only gives known fields."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.kinds import Path as Way
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.format.schema import BY_NAME
from rocketproof.traces.io.importers import all_importers, importer

from . import (
    test_broker_log,
    test_chaos_history,
    test_client_log,
    test_consumer_offset,
    test_listener_log,
    test_message_trace,
    test_otel_spans,
)

SAMPLES = {
    "message-trace": test_message_trace.WHOLE + "\n" + test_message_trace.FORMS["json"],
    "otel-spans": test_otel_spans.WHOLE,
    "listener-log": test_listener_log.LOG,
    "client-log": "".join(test_client_log.new(message) for message, _ in test_client_log.MESSAGES),
    "broker-log": test_broker_log.log(test_broker_log.joined(), *(message for message, _ in test_broker_log.MESSAGES)),
    "consumer-offset": test_consumer_offset.TABLE,
    "chaos-history": test_chaos_history.REQUEST + test_chaos_history.STORED + test_chaos_history.CONSUMED,
}


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("damage") / "sample"


@cache
def edits(name):
    """Cuts, and pieces put in, anywhere."""
    size = len(SAMPLES[name].encode())
    piece = st.one_of(
        st.binary(max_size=6), st.sampled_from([b"\x01", b"\x02", b"\n", b"null", b"-1", b"9" * 30, b"{"])
    )
    return st.lists(st.tuples(st.integers(0, size), st.integers(0, 40), piece), min_size=1, max_size=4)


def read(name, path):
    problems = Problems()
    imported = importer(name).read(path, problems)
    events = list(imported.events)
    return imported.header, events, imported.skipped, [str(problem) for problem in problems.kept]


@pytest.mark.parametrize("name", [each.name for each in all_importers()])
def test_damaged_files(name, path):
    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(edits(name))
    def check(damage):
        data = SAMPLES[name].encode()
        for at, cut, put in damage:
            data = data[:at] + put + data[at + cut :]
        path.write_bytes(data)
        found = read(name, path)
        assert read(name, path) == found
        for event in found[1]:
            assert set(event) <= set(BY_NAME)
            assert isinstance(event["time"], int)
            assert event["kind"] in set(Kind)
            assert event.get("result") in {None, *Result}
            assert event.get("path") in {None, *Way}

    check()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_not_damaged(name, path):
    path.write_text(SAMPLES[name])
    _, events, _, problems = read(name, path)
    assert events
    assert problems == []
