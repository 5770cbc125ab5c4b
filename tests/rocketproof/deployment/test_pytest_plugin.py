"""``pytest rocketproof.toml``: a test for each check, failures without traceback, nothing unless asked for."""

import subprocess
import sys

import pytest

from rocketproof.deployment.judge import Judge

from .examples import NAME, changed, deployment, write

pytest_plugins = ["pytester"]

ALL = len(Judge(deployment(changed())).checks)
TAGS = changed(b2='subscriptions = { orders = "paid" }')
FEW = "\n[verify]\nproperties = [{}]\n"


def only(text: str, *names: str) -> str:
    return text + FEW.format(", ".join(f'"{name}"' for name in names))


def test_every_check_is_a_test_with_the_name_of_its_group(pytester: pytest.Pytester) -> None:
    write(pytester.path, TAGS)
    result = pytester.runpytest_inprocess(NAME, "--collect-only", "-q")
    lines = result.outlines
    assert "rocketproof.toml::cluster::A13-read-queues-fewer-than-write-queues" in lines
    assert "rocketproof.toml::billing::A3-group-subscribes-different-tags" in lines
    assert "rocketproof.toml::billing::partition-lemma" in lines


def test_a_file_of_another_name_is_collected_if_it_is_named(pytester: pytest.Pytester) -> None:
    write(pytester.path, only(TAGS, "A3")).rename(pytester.path / "billing.toml")
    assert (
        "billing.toml::billing::A3-group-subscribes-different-tags"
        in pytester.runpytest_inprocess("billing.toml", "--collect-only", "-q").outlines
    )
    pytester.runpytest_inprocess("-o", "rocketproof=true").assert_outcomes()


def test_a_failure_is_the_text_of_the_check_without_a_traceback(pytester: pytest.Pytester) -> None:
    write(pytester.path, only(TAGS, "A3", "C4"))
    result = pytester.runpytest_inprocess(NAME)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*billing::A3-group-subscribes-different-tags*",
            "rocketproof.toml:19: error: [[]A3[]] members want different messages of orders *",
            "    fix: Give every member of billing the same expression for orders *",
            "FAILED rocketproof.toml::billing::A3-group-subscribes-different-tags - *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_property_fails_with_its_story(pytester: pytest.Pytester) -> None:
    write(pytester.path, only(TAGS, "offset-never-past-wanted"))
    result = pytester.runpytest_inprocess(NAME)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "offset-never-past-wanted: *",
            "This is not so for billing, because of A3.",
            "The model shows it (consumption *",
            "  start:",
            "  1. *",
        ]
    )


def test_unknown_is_a_failure_in_words_of_its_own(pytester: pytest.Pytester) -> None:
    text = changed(group='listener = "orderly"\nmax_reconsume_times = 3')
    write(pytester.path, only(text, "one-listener-a-queue") + "[verify.limit]\nstates = 50\n")
    result = pytester.runpytest_inprocess(NAME)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "UNKNOWN: one-listener-a-queue was neither shown nor refuted for billing.",
            "*limit of 50 states reached*",
            "This is no violation, and no pass either: *",
        ]
    )


def test_a_warning_is_a_warning_unless_it_is_to_fail(pytester: pytest.Pytester) -> None:
    text = changed(group="max_reconsume_times = 20")
    write(pytester.path, only(text, "SB-20"))
    result = pytester.runpytest_inprocess(NAME)
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*rocketproof.toml:10: RocketproofWarning: max_reconsume_times is 20: *"])
    result = pytester.runpytest_inprocess(NAME, "-W", "error")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*Traceback*")
    write(pytester.path, only(text, "SB-20") + 'fail_on = "warning"\n')
    pytester.runpytest_inprocess(NAME).assert_outcomes(failed=1)


def test_an_accepted_finding_is_skipped_with_its_reason(pytester: pytest.Pytester) -> None:
    write(pytester.path, only(TAGS, "A3") + '[[accepted]]\nfinding = "A3"\nbecause = "until v2"\n')
    result = pytester.runpytest_inprocess(NAME, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED * accepted: until v2"])


def test_a_broken_file_is_an_error_with_a_line_for_each_mistake(pytester: pytest.Pytester) -> None:
    write(pytester.path, changed(group="pull_interval = -1", b2="pid = 0"))
    result = pytester.runpytest_inprocess(NAME)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "rocketproof.toml:10: groups[[]billing[]].pull_interval: -1 is not possible; *",
            "rocketproof.toml:20: groups[[]billing[]].members[[]b2[]].pid: 0 is not possible; *",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_checks_are_chosen_as_tests_are(pytester: pytest.Pytester) -> None:
    write(pytester.path, TAGS)
    node = "rocketproof.toml::billing::A3-group-subscribes-different-tags"
    pytester.runpytest_inprocess(node).assert_outcomes(failed=1)
    pytester.runpytest_inprocess(NAME, "-k", "clientid").assert_outcomes(passed=1, deselected=ALL - 1)
    result = pytester.runpytest_inprocess(NAME, "-m", "not rocketproof", "--strict-markers")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_file_that_nobody_asked_for_is_left_alone(pytester: pytest.Pytester) -> None:
    write(pytester.path, TAGS)
    pytester.makepyfile("def test_one(): pass")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


@pytest.mark.parametrize("name", [NAME, "orders.rocketproof.toml"])
def test_with_the_option_every_file_in_the_folders_is_collected(pytester: pytest.Pytester, name: str) -> None:
    write(pytester.path, only(TAGS, "A3"), name)
    write(pytester.path, only(TAGS, "A3"), "other.toml")
    pytester.makepyfile("def test_one(): pass")
    pytester.makeini("[pytest]\nrocketproof = true\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)


def test_a_file_in_testpaths_needs_no_option(pytester: pytest.Pytester) -> None:
    write(pytester.path, only(TAGS, "A3"))
    folder = pytester.mkdir("tests")
    (folder / "test_one.py").write_text("def test_one(): pass\n")
    pytester.makeini("[pytest]\ntestpaths = tests rocketproof.toml\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=1, failed=1)


def test_a_file_with_options_only_has_no_tests(pytester: pytest.Pytester) -> None:
    write(pytester.path, '[verify]\nproperties = ["join-overlap"]\n')
    pytester.makeini("[pytest]\nrocketproof = true\n")
    pytester.makepyfile("def test_one(): pass")
    pytester.runpytest_inprocess().assert_outcomes(passed=1)


def test_unless_asked_for_nothing_of_the_kit_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_modules():\n"
        "    heavy = {'z3', 'numba', 'llvmlite', 'numpy', 'pydantic', 'rich', 'typer', 'hypothesis'}\n"
        "    ours = {name for name in sys.modules if name.startswith('rocketproof')}\n"
        "    assert ours == {'rocketproof', 'rocketproof.pytest_plugin'}\n"
        "    assert not (heavy - {'hypothesis'}) & set(sys.modules)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:xdist"]
    done = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
