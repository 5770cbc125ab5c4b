"""The registry: importers by content and by name; zones of time."""

from datetime import timedelta

import pytest

from rocketproof.traces.errors import TraceError
from rocketproof.traces.io.importers import all_importers, detect, importer
from rocketproof.traces.io.importers.client_log import ClientLog
from rocketproof.traces.io.importers.clock import millis_of, zone_of

NAMES = [
    "message-trace",
    "otel-spans",
    "listener-log",
    "client-log",
    "broker-log",
    "consumer-offset",
    "chaos-history",
]


def test_every_importer_has_a_name():
    assert [each.name for each in all_importers()] == NAMES


@pytest.mark.parametrize("head", ["", "hello\n", '{"rocketproof_trace": 1}\n{"time": 1}\n', "PAR1\x00\x01", "[1, 2]"])
def test_what_is_none_of_them_is_detected_by_none(head):
    assert [each.name for each in all_importers() if each.detects(head, "x.json")] == []
    assert detect(head, "x.json") is None


def test_an_importer_is_found_by_its_name():
    assert importer("client-log") == ClientLog()
    assert importer("client") is None


@pytest.mark.parametrize(
    ("name", "hours"), [("UTC", 0), ("GMT+8", 8), ("+08:00", 8), ("-0330", -3.5), ("UTC-5", -5), ("Asia/Shanghai", 8)]
)
def test_zones(name, hours):
    assert zone_of(name).utcoffset(None) in (timedelta(hours=hours), None)
    assert millis_of("2024-05-01 10:00:00,250", zone_of(name)) == 1714557600250 - hours * 3_600_000


def test_a_zone_that_is_none():
    for name in ("Mars/Base", "+99:00", ""):
        with pytest.raises(TraceError, match="There is no time zone"):
            zone_of(name)
