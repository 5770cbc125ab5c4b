"""Files of stored offsets: one, a series, all three tables, damage."""

import os

from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.consumer_offset import ConsumerOffset

TABLE = '{\n\t"offsetTable":{\n\t\t"orders@CG":{0:12,1:5},\n\t\t"%RETRY%CG@CG":{0:3}\n\t}\n}'
T = 1_714_557_600_000


def written(folder, name, text, at=None):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    if at is not None:
        os.utime(path, ns=(at * 1_000_000, at * 1_000_000))
    return path


def imported(*paths, **options):
    problems = Problems()
    found = ConsumerOffset(**options).read_series(paths, problems)
    return found, list(found.events), problems


def commits(events):
    return [
        (event["time"], event["topic"], event["queue"], event["offset"])
        for event in events
        if event["kind"] == Kind.COMMIT
    ]


def test_one_file_tells_every_offset(tmp_path):
    path = written(tmp_path, "consumerOffset.json", TABLE, T)
    found, events, problems = imported(path, broker="broker-a")
    assert problems.count == 0
    assert events[0] == {
        "time": T,
        "client": None,
        "broker": "broker-a",
        "kind": "file_persist",
        "result": "ok",
        "detail": "consumerOffset.json",
        "group": None,
    }
    assert events[2] == {
        "time": T,
        "client": None,
        "kind": "commit",
        "path": "file",
        "group": "CG",
        "topic": "orders",
        "broker": "broker-a",
        "queue": 0,
        "offset": 12,
    }
    assert commits(events) == [(T, "%RETRY%CG", 0, 3), (T, "orders", 0, 12), (T, "orders", 1, 5)]
    # One file shows no change, so nothing can be said of changes.
    assert found.header.evidence == {Kind.FILE_PERSIST}
    assert ConsumerOffset().read(path, Problems()).header == found.header


def test_a_series_tells_the_changes_in_the_order_of_time(tmp_path):
    later = written(tmp_path, "consumerOffset.json", '{"offsetTable":{"orders@CG":{0:11,1:5,2:-1}}}', T + 5000)
    backup = written(tmp_path, "consumerOffset.json.bak", TABLE, T + 5000)
    first = written(tmp_path, f"consumerOffset.json.{T}", '{"offsetTable":{"orders@CG":{0:9,1:5}}}')
    found, events, problems = imported(later, backup, first)
    assert problems.count == 0
    assert commits(events) == [
        (T, "orders", 0, 9),
        (T, "orders", 1, 5),
        (T + 5000, "%RETRY%CG", 0, 3),
        (T + 5000, "orders", 0, 12),
        (T + 5000, "orders", 0, 11),
    ]
    assert found.header.evidence == {Kind.FILE_PERSIST}  # what was stored between two copies is in none
    assert found.skipped == {
        "offset as in the copy before": 2,
        "offset that is not in the copy any more": 1,
        "negative offset, as if nothing were stored": 1,
    }


def test_times_in_names(tmp_path):
    names = ["consumerOffset-20240501-100000.json", "2024-05-01T10:00:00_consumerOffset.json"]
    for name in names:
        path = written(tmp_path, name, TABLE, T + 1)
        assert imported(path)[1][0]["time"] == T
        assert imported(path, zone="+08:00")[1][0]["time"] == T - 8 * 3_600_000
    assert imported(written(tmp_path, "consumerOffset-20241301-100000.json", TABLE, T + 1))[1][0]["time"] == T + 1


def test_files_of_several_brokers_are_told_apart_by_their_folders(tmp_path):
    paths = [
        written(tmp_path / broker, "consumerOffset.json", f'{{"offsetTable":{{"t@g":{{0:{offset}}}}}}}', T + offset)
        for broker, offset in (("a", 1), ("b", 2), ("a/old", 3))
    ]
    found, events, _ = imported(*paths)
    told = [(event["broker"], event["offset"]) for event in events if event["kind"] == Kind.COMMIT]
    assert told == [("a", 1), ("b", 2), ("old", 3)]
    assert found.header.evidence == {Kind.FILE_PERSIST}


def test_delay_levels(tmp_path):
    path = written(tmp_path, "delayOffset.json", '{"offsetTable":{3:10,4:7},"dataVersion":{"counter":{"value":1}}}', T)
    _, events, problems = imported(path)
    assert problems.count == 0
    assert commits(events) == [(T, "SCHEDULE_TOPIC_XXXX", 2, 10), (T, "SCHEDULE_TOPIC_XXXX", 3, 7)]
    assert [(event["group"], event["level"]) for event in events[1:]] == [(None, 3), (None, 4)]


def test_a_broadcasting_client(tmp_path):
    text = '{"offsetTable":{{"brokerName":"broker-a","queueId":3,"topic":"orders"}:44}}'
    path = written(tmp_path / "10.0.0.5@DEFAULT" / "BG", "offsets.json", text, T)
    found, events, problems = imported(path)
    assert problems.count == 0
    assert events[1] == {
        "time": T,
        "client": "10.0.0.5@DEFAULT",
        "kind": "commit",
        "path": "file",
        "group": "BG",
        "topic": "orders",
        "broker": "broker-a",
        "queue": 3,
        "offset": 44,
    }
    assert found.header.groups["BG"].mode == "broadcasting"


def test_damage_is_counted_and_located(tmp_path):
    good = written(tmp_path, "a", '{"offsetTable":{"t@g":{0:1,1:"x",2:null},"noGroup":{0:1},"u@g":7}}', T)
    broken = written(tmp_path, "b", '{"offsetTable":{\n"t@g":{0:1,', T)
    other = written(tmp_path, "c", '{"table":{}}', T)
    found, events, problems = imported(good, broken, other)
    assert commits(events) == [(T, "t", 0, 1)]
    assert found.header.source == "stored offsets in 1 file"
    assert [(problem.file, problem.line, problem.what) for problem in problems.kept] == [
        (str(broken), 2, "no JSON: Expecting property name enclosed in double quotes"),
        (str(other), 0, "no table of offsets"),
        (str(good), 0, "'t@g': 'x' is no offset of a queue"),
        (str(good), 0, "'t@g': None is no offset of a queue"),
        (str(good), 0, "'noGroup': {'0': 1} is no offset of a queue"),
        (str(good), 0, "'u@g': 7 is no offset of a queue"),
    ]


def test_it_is_detected_and_reads_series():
    found = detect(TABLE, "any")
    assert found.name == "consumer-offset"
    assert found.reads_series
