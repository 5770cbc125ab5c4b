"""The run: a cluster works, and its events are written as they happen."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ...errors import TraceError
from ...format.kinds import Kind
from ...format.schema import Group, Header
from ...io.parquet import beside_a_trace
from ...io.writing import JsonlWriter, ParquetWriter, TraceWriter
from . import intruder, outside
from .catalogue import MUTANTS
from .cluster import Cluster
from .first_world import PRODUCING_FROM
from .loop import GROW, ROWS_FULL, run
from .plan import BROADCASTING, ORDERLY, Plan
from .rows import Batches
from .tables import GROUP
from .truth import truth_of
from .world import FACT, OWNED, count_filtered

LOOK, PATIENCE = 5_000, 60_000
"""How often it is checked whether all is done; and how long after the expected end the run stops anyway, ms."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The result of a plan."""

    trace: FilePath  # the trace file
    truth: FilePath  # the truth file; the counts of its facts are in ``truth.json`` beside it
    events: int  # rows of the trace
    messages: int  # messages that were produced
    span: int  # from the first event to the last, ms
    finished: bool  # whether nothing was under way any more when it ended
    facts: dict[str, int]  # number of facts of each kind in the truth; violations by claim


def simulate(plan: Plan, progress: Callable[[int, int], None] | None = None) -> Summary:
    """Simulate a plan and write its trace and truth.

    ``progress`` is called from time to time with the number of messages produced, and the number planned.

    Raises:
        TraceError: the mutant does not exist, or not for this kind of group.
    """
    if plan.mutant:
        known = MUTANTS.get(plan.mutant)
        if known is None:
            raise TraceError(f"there is no mutant {plan.mutant!r}; possible: {', '.join(sorted(MUTANTS))}.")
        if plan.group_kind not in known.kinds:
            raise TraceError(f"mutant {plan.mutant} needs a group of kind {' or '.join(known.kinds)}.")
    plan.out.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(plan)
    outside.schedule(cluster)
    intruder.schedule(cluster)
    with _writer(plan) as writer, ThreadPoolExecutor(1) as pool:
        output = _Output(cluster, writer, pool)
        finished = _work(cluster, output, progress)
        output.end()
    return output.summary(finished)


def _writer(plan: Plan) -> TraceWriter:
    writer = ParquetWriter if plan.format == "parquet" else JsonlWriter
    return writer(plan.out / f"trace.{plan.format}", _header(plan))


def _work(cluster: Cluster, output: _Output, progress: Callable[[int, int], None] | None) -> bool:
    """Let the cluster work until all is done; returns whether it was."""
    plan = cluster.plan
    ends: list[bool] = []
    rules = cluster.world.rules
    patience = 2 * int(rules["delay"][rules["level"][: max(1, plan.max_attempts)]].sum()) + PATIENCE
    latest = PRODUCING_FROM + 2 * plan.producing + patience

    def look() -> None:
        a = cluster.world.all[0]
        if progress is not None:
            progress(plan.messages - int(a["unproduced"]), plan.messages)
        done = _is_done(cluster)
        if (done and cluster.now >= a["until"]) or cluster.now >= max(latest, a["until"]):
            ends.append(done)
            cluster.closing = True
            for process in list(cluster.alive()):
                cluster.stop(process)
            return
        cluster.after(LOOK, look)

    cluster.at(PRODUCING_FROM + LOOK, look)
    while not ends:
        _reach(cluster, output, cluster.next_event)
        cluster.act()
    # Processes that stop take a moment.
    end = cluster.now + 20
    while cluster.next_event <= end:
        _reach(cluster, output, cluster.next_event)
        cluster.act()
    intruder.judge_owners(cluster)
    return ends[0]


def _reach(cluster: Cluster, output: _Output, time: int) -> None:
    while True:
        why = run(cluster.world, time, cluster.margin)
        if why == GROW:
            cluster.grow()
        elif why == ROWS_FULL or output.is_full():
            output.write()
        if why not in (GROW, ROWS_FULL):
            return


def _is_done(cluster: Cluster) -> bool:
    """Whether nothing is under way: everything is produced, delivered and finished, and no copy waits."""
    world = cluster.world
    a = world.all[0]
    if a["unproduced"] or a["copies"] or not cluster.members:
        return False
    left = {
        queue
        for queue in range(len(cluster.queues))
        if world.queues[queue]["end"] and (-1, queue) not in cluster.blocked
    }
    everybody = cluster.plan.group_kind == BROADCASTING
    for process in cluster.members:
        for queue, w in cluster.owned[process].items():
            window = world.windows[w]
            stuck = window["hung"] != -1 and bool(cluster.plan.mutant)
            open_ = window["cached"] or window["next"] < world.queues[queue]["end"]
            if window["stage"] == OWNED and (stuck or not open_):
                left.discard(queue)
            elif everybody:
                return False
    return not left


class _Output:
    """Writes rows and facts while the cluster works on, with two sets of rows in turn."""

    def __init__(self, cluster: Cluster, writer: TraceWriter, pool: ThreadPoolExecutor) -> None:
        self.cluster = cluster
        plan = cluster.plan
        self._batches = Batches(
            clients=cluster.clients,
            group=GROUP,
            topics=cluster.topics,
            brokers=cluster.brokers,
            start=plan.start,
            keys=plan.keys,
        )
        self._facts: list[Any] = []
        self.events = 0
        self._writer, self._pool = writer, pool
        self._under_way: Future[None] | None = None

    def end(self) -> None:
        """Write the rest."""
        self.write()
        self._wait()

    def is_full(self) -> bool:
        """Whether rows or facts should be written before anything else happens."""
        world = self.cluster.world
        a = world.all[0]
        margin = self.cluster.margin
        return bool(a["rows"] >= world.rows.shape[1] - 2 * margin or a["facts"] >= len(world.facts) - 2 * margin)

    def write(self) -> None:
        """Write the present rows and facts."""
        world = self.cluster.world
        a = world.all[0]
        self._facts.append(world.facts[: a["facts"]].copy())
        a["facts"] = 0
        size = int(a["rows"])
        a["rows"] = 0
        self.events += size
        self._batches.lists = self.cluster.lists
        self.cluster.lists = {}
        batch = self._batches.batch(world.rows, size)
        self._wait()
        self._under_way = self._pool.submit(self._writer.write, batch)

    def _wait(self) -> None:
        if self._under_way is not None:
            self._under_way.result()
            self._under_way = None

    def summary(self, finished: bool) -> Summary:
        """Write the truth, and return the summary."""
        cluster, plan = self.cluster, self.cluster.plan
        facts = np.concatenate([*self._facts, np.empty(0, FACT)])
        truth = truth_of(cluster, facts)
        pq.write_table(beside_a_trace(truth), plan.out / "truth.parquet")
        counted = truth.group_by(["what", "claim", "cause"]).aggregate([([], "count_all")]).to_pylist()
        counts = {
            ":".join(row[name] for name in ("what", "claim", "cause") if row[name]): row["count_all"] for row in counted
        }
        counts = dict(sorted(counts.items()))
        messages = plan.messages - int(cluster.world.all[0]["unproduced"])
        said = {
            "mutant": plan.mutant,
            "seed": plan.seed,
            "messages": messages,
            "events": self.events,
            "finished": finished,
            "filtered": int(count_filtered(cluster.world)),
            "facts": counts,
        }
        (plan.out / "truth.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
        return Summary(
            trace=self._writer.path,
            truth=plan.out / "truth.parquet",
            events=self.events,
            messages=messages,
            span=cluster.now,
            finished=finished,
            facts=counts,
        )


def _header(plan: Plan) -> Header:
    mode = BROADCASTING if plan.group_kind == BROADCASTING else "clustering"
    listener = ORDERLY if plan.group_kind == ORDERLY else "concurrently"
    never = {Kind.ROUTE, Kind.ROLE_CHANGE, Kind.COMMIT_MEMORY, Kind.FILE_LOAD, Kind.FILE_PERSIST, Kind.REMOVED}
    never |= {Kind.LOCK_LOST, Kind.GAP}
    return Header(
        source=f"rocketproof simulate, seed {plan.seed}" + (f", mutant {plan.mutant}" if plan.mutant else ""),
        evidence=frozenset(Kind) - never,
        delays=plan.delays,
        release=plan.release,
        groups={
            GROUP: Group(mode=mode, listener=listener, max_attempts=plan.max_attempts, strategy=plan.strategy),
        },
        complete=True,
    )
