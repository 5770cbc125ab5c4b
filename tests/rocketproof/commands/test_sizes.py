"""Times, sizes and counts on the command line."""

import pytest

from rocketproof.commands.sizes import read_count, read_size, read_time
from rocketproof.errors import InputError


@pytest.mark.parametrize(
    ("text", "ms"), [("50ms", 50), ("2s", 2_000), ("2 s", 2_000), ("3m", 180_000), ("3min", 180_000), ("1h", 3_600_000)]
)
def test_times(text: str, ms: int) -> None:
    assert read_time("--skew", text) == ms


@pytest.mark.parametrize("text", ["", "50", "50 parsecs", "-1s", "1.5s", "s", "1s2s"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(InputError, match=r"^--skew '.*' is no time\. Write a whole number and one of ms, s, m, min, h"):
        read_time("--skew", text)


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("4GiB", 4 << 30), ("4 GB", 4 * 10**9), ("512MiB", 512 << 20), ("7KB", 7_000)]
)
def test_sizes(text: str, size: int) -> None:
    assert read_size("--memory", text) == size


@pytest.mark.parametrize("text", ["", "0", "0GiB", "4G", "-4GiB", "GiB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(InputError, match=r"^--memory '.*' is no size\. Write a whole number above 0 and one of KiB, "):
        read_size("--memory", text)


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("20_000", 20_000), ("1e6", 1_000_000), ("25e3", 25_000)])
def test_counts(text: str, count: int) -> None:
    assert read_count("--messages", text) == count


@pytest.mark.parametrize("text", ["", "0", "0e9", "-3", "1.5e6", "many", "1e100"])
def test_what_is_no_count(text: str) -> None:
    with pytest.raises(InputError, match=r"^--messages '.*' is not a number\. Write a whole number above 0"):
        read_count("--messages", text)
