"""What errors of traces call the files that they are about."""

from rocketproof.traces.errors import named


def test_many_files_are_not_listed() -> None:
    assert named(["a"]) == "a"
    assert named(["a", "b", "c"]) == "a, b, c"
    assert named([*"abcde"]) == "a, b, c and 2 more"
