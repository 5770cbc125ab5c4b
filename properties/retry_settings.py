"""What settings about retries mean: delay tables, names and permissions of dead-letter topics, whose maximum counts.

These are plain functions of texts and numbers. Each theorem is a list of cases, computed when it is evaluated, on both
sides of every boundary.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.dead_letter import LONGEST_TOPIC, READ, RETRY_PREFIX, WRITE, dead_letter_permission, dead_letter_topic
from ..model.delay import DEFAULT_LEVELS, LONGEST_DELAY, LONGEST_DIGITS, MOST_LEVELS, UNITS, DelayTable
from ..model.kernel import ConfigurationError, all_of, not_, same
from ..model.retry_policy import fallback_gives_up, maximum_applied
from .theorem import Theorem

_DAYS = LONGEST_DELAY // UNITS["d"]


def _refusal(make: Callable[[], object]) -> str:
    """The error message for a setting; empty if the setting is accepted."""
    try:
        make()
    except ConfigurationError as error:
        return str(error)
    return ""


def _refused(table: str, *words: str) -> bool:
    """Whether a table is refused, and the message contains all ``words``."""
    said = _refusal(lambda: DelayTable.parse(table))
    return bool(said) and all(word in said for word in words)


def _read(table: str) -> tuple[int, ...]:
    return DelayTable.parse(table).delays if not _refusal(lambda: DelayTable.parse(table)) else ()


def table_is_read() -> Theorem:
    """DL-1: what a ``messageDelayLevel`` means."""

    def claim() -> bool:
        return (
            _read("1s 2m 3h 4d") == (1_000, 120_000, 10_800_000, 345_600_000)
            and _read("+5s 0s") == (5_000, 0)
            and _read("10s ") == (10_000,)
            and len(_read(DEFAULT_LEVELS)) == 18
        )

    return Theorem(
        id="delay-table-means-what-it-says",
        statement=(
            "The entries of messageDelayLevel are the levels 1, 2 … in order, in seconds, minutes, hours or days."
        ),
        sizes=(),
        claim=claim,
        covers="a table of each unit, the default one, and blanks at the end",
        rules=("DL-1",),
    )


def wrong_table_is_refused() -> Theorem:
    """DL-1: a broker does not start with a table that it cannot read; the message says what is wrong."""
    long = "x" * 200

    def claim() -> bool:
        return (
            _refused("", "level 1 is empty")
            and _refused("1s  2s", "level 2 is empty", "1s  2s")
            and _refused("1s -2s", "level 2 is '-2s', a negative delay")
            and _refused("1s 2w", "level 2 is '2w'. ")
            and _refused("1", "level 1 is '1'. ")
            and _refused(long, f"{long!r}:")
            and _refused(long + "y", f"{long + '…'!r}:")
            and bool(_refusal(lambda: DelayTable(())))
        )

    return Theorem(
        id="wrong-delay-table-is-refused",
        statement=(
            "A messageDelayLevel that a broker cannot read is refused, naming the level that is wrong and the reason."
        ),
        sizes=(),
        claim=claim,
        covers="each way in which an entry can be wrong",
        rules=("DL-1",),
    )


def table_limits() -> Theorem:
    """The largest tables that are accepted."""

    def claim() -> bool:
        return (
            len(_read(" ".join(["1s"] * MOST_LEVELS))) == MOST_LEVELS
            and _refused(" ".join(["1s"] * (MOST_LEVELS + 1)), "levels")
            and _read(f"{_DAYS}d") == (LONGEST_DELAY,)
            and _refused(f"1s {_DAYS}d {_DAYS + 1}d", "level 3")
            and _read(f"{'1':0>{LONGEST_DIGITS}}s") == (1_000,)
            and _refused(f"{'1':0>{LONGEST_DIGITS + 1}}s", "level 1")
        )

    return Theorem(
        id="delay-table-has-limits",
        statement="A delay table has up to 1,000 levels, each of up to 100 years; anything beyond is refused.",
        sizes=(),
        claim=claim,
        covers="both sides of each limit",
        rules=("DL-1",),
    )


def later_retries_alike() -> Theorem:
    """SB-16, DL-2: retries begin at level 3, and those beyond the table wait at its last level."""

    def distinct(table: str) -> int:
        return DelayTable.parse(table).distinct_retries()

    def claim() -> bool:
        rising = DelayTable.parse("1s 1s 2s").is_monotone
        falling = DelayTable.parse("1s 2s 1s").is_monotone or DelayTable.parse("2s 1s 3s").is_monotone
        counts = (distinct("1s"), distinct("1s 2s"), distinct("1s 2s 3s"), distinct(DEFAULT_LEVELS))
        return rising and not falling and counts == (0, 0, 1, 16)

    return Theorem(
        id="later-retries-wait-alike",
        statement="As many retries have a delay of their own as the table has levels from the third on; 16 by default.",
        sizes=(),
        claim=claim,
        covers="tables of 1, 2, 3 and 18 levels",
        rules=("DL-2", "SB-16"),
    )


def dead_letters_can_be_stored() -> Theorem:
    """DQ-1, G2-17: a group name that is too long makes it impossible to store a dead letter."""
    longest = LONGEST_TOPIC - len(RETRY_PREFIX)

    def claim() -> bool:
        fits = not _refusal(lambda: dead_letter_topic("g" * longest))
        said = _refusal(lambda: dead_letter_topic("g" * (longest + 1)))
        return fits and dead_letter_topic("g") == "%DLQ%g" and f"at most {longest} characters" in said

    return Theorem(
        id="group-name-leaves-room-for-its-topics",
        statement="A group whose name has more than 120 characters is refused: its retries could not be stored.",
        sizes=(),
        claim=claim,
        covers="both sides of the limit",
        rules=("DQ-1", "G2"),
    )


def dead_letters_can_be_read() -> Theorem:
    """DQ-1: up to 4.9.1 a dead-letter topic is created write-only."""

    def claim() -> bool:
        old = all(dead_letter_permission(version) == WRITE for version in ("4.3.0", "4.9.1"))
        new = all(dead_letter_permission(version) == WRITE | READ for version in ("4.9.2", "4.9.8", "5.3.3"))
        return old and new and (READ, WRITE) == (4, 2) and bool(_refusal(lambda: dead_letter_permission("five")))

    return Theorem(
        id="dead-letters-readable-since-4.9.2",
        statement="A dead-letter topic created by a broker of up to 4.9.1 cannot be read until its permission is set.",
        sizes=(),
        claim=claim,
        covers="releases at both sides of the change",
        rules=("DQ-1",),
    )


def who_says_the_maximum() -> Theorem:
    """SB-8, SB-14: the client's maximum counts if it sends one."""
    return Theorem(
        id="maximum-of-the-client-counts",
        statement="The client's maxReconsumeTimes counts; if the client sends none, retryMaxTimes of the group does.",
        sizes=(),
        claim=lambda of_group, sent: all_of(
            same(maximum_applied(of_group, sent, True), sent), same(maximum_applied(of_group, sent, False), of_group)
        ),
        covers="every pair of maxima",
        rules=("SB-8", "SB-14"),
    )


def locked_group_gives_up() -> Theorem:
    """SB-15: messages that an orderly group produces to its retry topic are never tried again."""
    return Theorem(
        id="locked-group-is-not-tried-again",
        statement=(
            "Since 5.1.1, a message that a group with an orderly lock at this broker sends to its retry topic "
            "becomes a dead letter at once; without a lock, only beyond the maximum."
        ),
        sizes=(),
        given=lambda times, maximum: times <= maximum,
        claim=lambda times, maximum: all_of(
            fallback_gives_up("5.3.3", times, maximum, locked=True),
            not_(fallback_gives_up("5.3.3", times, maximum, locked=False)),
        ),
        covers="every count up to every maximum",
        rules=("SB-15",),
    )


SETTING_THEOREMS: tuple[Theorem, ...] = (
    table_is_read(),
    wrong_table_is_refused(),
    table_limits(),
    later_retries_alike(),
    dead_letters_can_be_stored(),
    dead_letters_can_be_read(),
    who_says_the_maximum(),
    locked_group_gives_up(),
)
"""What holds for every setting about retries."""
