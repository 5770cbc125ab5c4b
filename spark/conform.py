"""``rocketproof conform --engine spark``: each queue is a task, which follows it through the model."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from ..traces.conformance.clocks import in_time
from ..traces.conformance.conform import SLACK, concluded, unseen_of
from ..traces.conformance.part import Answer, follow_messages, follow_queues
from ..traces.conformance.result import Conformance
from ..traces.conformance.sorting_out import queues_in, sort_out
from ..traces.conformance.streams import Surroundings
from ..traces.io import Trace
from .session import failures, open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUND = 256 << 20
"""Bytes of packed events that are sent out at a time."""

_SENT = pa.schema([pa.field("number", pa.int32()), pa.field("events", pa.binary())])
_ANSWER = "number int, answer binary"


def conform_with_spark(
    trace: Trace, *, slack: int = SLACK, master: str = "", session: SparkSession | None = None
) -> Conformance:
    """Follow every queue of a trace through the model, on Spark; the answer is that of ``conform``.

    The trace is read and sorted by the driver, and sent to the tasks queue by queue.

    Args:
        trace: what was recorded.
        slack: how far records of different threads and processes may be apart from what they record, ms.
        master: master of a new session; empty for a local one.
        session: a session to use instead.

    Raises:
        TraceError: there are no events, Spark or Java cannot be started, or Spark fails.
    """
    spark = session or open_session(master)
    header = trace.header
    answers: list[Answer] = []
    with ExitStack() as cleanup, failures():
        recorders = in_time(trace, slack=slack)
        found = sort_out(trace, cleanup)
        unseen = unseen_of(trace, found, recorders)
        follow = partial(follow_queues, around=Surroundings(found.around), unseen=unseen, header=header, slack=slack)
        waiting: list[bytes] = []
        for bucket in found.queues.buckets():
            for table in queues_in(bucket):
                waiting.append(_packed(table))
                if sum(map(len, waiting)) > ROUND:
                    answers += _followed(spark, waiting, follow)
                    waiting.clear()
        if waiting:
            answers += _followed(spark, waiting, follow)
        answers += [follow_messages(table, header, unseen) for table in found.messages.buckets()]
    return concluded(found, unseen, header, answers)


def _followed(spark: SparkSession, queues: Sequence[bytes], follow: Callable[[pa.Table], Answer]) -> list[Answer]:
    from pyspark.sql import functions

    numbers = pa.array(range(len(queues)), pa.int32())
    sent = spark.createDataFrame(pa.table([numbers, pa.array(queues, pa.binary())], schema=_SENT))
    placed = sent.repartitionById(len(queues), functions.col("number"))
    told = placed.mapInArrow(partial(_answers, follow=follow), _ANSWER).toArrow()
    return [pickle.loads(answer) for answer in told.sort_by("number").column("answer").to_pylist()]


def _answers(batches: Iterator[pa.RecordBatch], *, follow: Callable[[pa.Table], Answer]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        answers = [pickle.dumps(follow(_unpacked(events))) for events in batch.column("events").to_pylist()]
        yield pa.RecordBatch.from_arrays([batch.column("number"), pa.array(answers, pa.binary())], ["number", "answer"])


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(sink.getvalue().to_pybytes())


def _unpacked(events: bytes) -> pa.Table:
    with pa.ipc.open_stream(events) as reader:
        return reader.read_all()
