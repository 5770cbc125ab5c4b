"""What is said while a long run goes on."""

from __future__ import annotations

import threading

import pytest

from rocketproof.output.progress import told_if_long


def test_what_takes_long_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with told_if_long("this takes long", after=0):
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.join()
    assert capsys.readouterr() == ("", "this takes long\n")


def test_what_is_done_soon_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    with told_if_long("this takes long", after=3600):
        pass
    assert capsys.readouterr() == ("", "")
    waiting = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    assert all(thread.finished.is_set() for thread in waiting)
