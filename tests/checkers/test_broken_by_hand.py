"""Mechanisms broken by hand, each in a way that no generated mutant has: the default suite notices every one."""

import __future__

import ast
import importlib
import inspect
import textwrap
import types
from typing import Any

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import Change, Sort
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, Fate, judge
from rocketproof.checkers.mutation.theorems import Theorems

BROKEN = [
    # A retry queue without an offset is started at its end, so that retries from before are skipped.
    ("start_position", "chosen_offset", "0 if retry else end(s, q)", "end(s, q)"),
    # The last commit of a queue that is given up is that of queue 0.
    ("queue_table", "_persist", "to_commit(s, c, q) if", "to_commit(s, c, 0) if"),
    # A client that stops in order forgets its offsets as if it had died.
    ("shutdown", "persist_at_stop", "write_offset(s, c, q, to_commit(s, c, q), Cause.SHUTDOWN)", "s.memory[c, q] = -1"),
    # What was pulled at once is one listener call, whatever consumeMessageBatchMaxSize says.
    ("pull", "put", "(m - first) % s.batch != 0", "m != first"),
    # The loop that makes listener calls of a pull ends one message early.
    (
        "pull",
        "put",
        "ite(pulled(m), Stage.WAITING",
        "ite(all_of(pulled(m), any_of(after - first == 1, m < after - 1)), 1",
    ),
    # An expired message is sent back with a level of its own.
    ("send_back", "clean_expired", "EXPIRY_LEVEL", "EXPIRY_LEVEL + 2"),
    # A broker that may not be written to answers SUCCESS.
    (
        "retry_policy",
        "broker_checks",
        "Answer.NO_PERMISSION), BrokerCheck('SB-12'",
        "Answer.SUCCESS), BrokerCheck('SB-12'",
    ),
    # A client never learns that its lock is gone.
    ("lock", "renew_lock", "disbelieve(s, c, q)", "believe(s, c, q)"),
    # A lock is given to whoever has the higher number.
    ("lock", "obtainable", "s.holder[q] == 0", "s.holder[q] < c + 1"),
    # Success with a batch counts for its first message only.
    ("concurrently", "succeed", "handle(s, q, lambda o: in_task(s, c, q, m, o))", "handle(s, q, lambda o: same(o, m))"),
    # The in-memory offset goes to the pull position as soon as anything is finished.
    ("process_queue", "low_water_mark", "default=put_end(s, c, q))", "default=0) * 0 + put_end(s, c, q)"),
    # A retry copy stems from the copy before it, and not from the message.
    ("retry_copy", "root_of", "s.root[s.content[m]]", "code(s, q, m)"),
    # The broker goes on at each level where the first level was.
    ("schedule", "first_position", "s.saved[queue]", "s.saved[0]"),
    # A broadcasting client reads its file back as if all were done.
    ("local_file", "write_file", "offset(q), read_entry(s, c, q)", "offset(q) + 1, read_entry(s, c, q)"),
    # A message that arrives wakes the request of another queue.
    ("long_polling", "wakes", "is_wanted if s.polling == 'long'", "is_wanted & (q == 0) if s.polling == 'long'"),
]


def broken(part: str, text: str, right: str, wrong: str) -> Change:
    """One place of a text replaced by another, as Python writes it out."""
    found: Any = getattr(importlib.import_module(f"rocketproof.model.{part}"), text)
    function = found if isinstance(found, types.FunctionType) else found.__wrapped__
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list = []
    source = ast.unparse(node)
    assert source.count(right) == 1, source
    whole = compile(
        source.replace(right, wrong), __file__, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True
    )
    code = next(item for item in whole.co_consts if isinstance(item, types.CodeType) and item.co_name == text)
    return Change(
        id=f"{part}.{text}.hand",
        part=part,
        text=text,
        sort=Sort.UPDATE_DROPPED,
        line=0,
        told=f"{wrong} for {right}",
        function=function,
        code=code,
    )


@pytest.mark.slow
def test_every_broken_mechanism_is_noticed() -> None:
    rows = default_rows()
    changes = [broken(*item) for item in BROKEN]
    outcomes = judge(changes, settings(rows), Theorems.of(rows), Effort(states=20_000))
    assert [(item.change.id, item.change.told) for item in outcomes if item.fate is not Fate.KILLED] == []
