"""Clusters: recordings of several of them in one folder, whose brokers and groups may have the same names.

Two brokers of one name are of two clusters if both store messages at the same time, or if the later one begins with an
empty store, unless brokers elect who is the master. A broker lists its clients and stores what they send, so its
clients are of its cluster. The names of brokers, topics and groups of all clusters but the first get a number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..format.header import Stated
from ..format.kinds import STORES, Kind
from ..format.schema import ARROW
from .recording import Recording


def clusters_named(files: Sequence[tuple[Stated, Recording]]) -> list[tuple[Stated, Recording]]:
    """The files, with names of their own for brokers, topics and groups of each further cluster."""
    clusters = _clusters([one for _, one in files if one.broker])
    if len(clusters) < 2:
        return list(files)
    broker_in = {one: number for number, cluster in enumerate(clusters) for one in cluster}
    client_in = {client: number for one, number in broker_in.items() for client in _clients(one)}
    # A client that no broker knows is where others of its process are.
    process_in = {one.process: client_in[who] for _, one in files for who in _clients(one) if who in client_in}
    return [_named(*file, broker_in.get(file[1]), client_in, process_in.get(file[1].process, 0)) for file in files]


def _clusters(brokers: Sequence[Recording]) -> list[list[Recording]]:
    """Recordings of brokers by cluster: those that share a client, and those that nothing shows to be of another."""
    conflicts = {(one, other) for one in brokers for other in brokers if _are_two(one, other)}
    if not conflicts:
        return [list(brokers)]
    parts: list[tuple[set[str], list[Recording]]] = []
    for one in sorted(brokers, key=lambda one: int(one.stamps[0])):
        clients, together = _clients(one), [one]
        for part in [part for part in parts if not clients.isdisjoint(part[0])]:
            clients, together = clients | part[0], [*part[1], *together]
            parts.remove(part)
        parts.append((clients, together))
    clusters: list[list[Recording]] = []
    for _, brokers_of_one in sorted(parts, key=lambda part: int(part[1][0].stamps[0])):
        fits = (
            all((one, other) not in conflicts for one in brokers_of_one for other in cluster) for cluster in clusters
        )
        place = next((place for place, does_fit in enumerate(fits) if does_fit), None)
        if place is None:
            clusters.append(brokers_of_one)
        else:
            clusters[place] += brokers_of_one
    return clusters


def _are_two(one: Recording, other: Recording) -> bool:
    """Whether two recordings of one name are of different brokers: both store messages meanwhile, or the later one
    begins each queue in which it stores.
    """
    if one is other or one.broker != other.broker:
        return False
    if any(len(each.rows((Kind.ROLE_CHANGE,))) for each in (one, other)):
        return False
    spans = [each.stamps[each.rows(STORES)] for each in (one, other)]
    if not all(map(len, spans)):
        return False
    meanwhile = max(map(min, spans)) < min(map(max, spans))
    return meanwhile or _begins_all(max(one, other, key=lambda each: int(each.stamps[0])))


def _begins_all(broker: Recording) -> bool:
    """Whether the first message in each queue is at its beginning."""
    stores = broker.table.take(pa.array(broker.rows(STORES))).select(["topic", "queue", "offset"]).drop_null()
    first = stores.group_by(["topic", "queue"]).aggregate([("offset", "min")]).column("offset_min")
    return len(first) > 0 and pc.max(first).as_py() == 0


def _clients(broker: Recording) -> set[str]:
    table = broker.table
    listed = pc.list_flatten(table.column("members"))
    return {word for column in (table.column("client"), listed) for word in pc.unique(column).to_pylist() if word}


def _named(
    stated: Stated, one: Recording, broker_in: int | None, client_in: Mapping[str, int], otherwise: int
) -> tuple[Stated, Recording]:
    if broker_in is None:
        client = one.table.column("client").combine_chunks()
        of_word = np.array([client_in.get(word, otherwise) for word in client.dictionary.to_pylist()] or [0])
        number = np.where(client.is_valid(), of_word[client.indices.fill_null(0)], 0)
    else:
        number = np.full(len(one), broker_in)
    numbers = sorted({*number.tolist()})
    for cluster in filter(None, numbers):
        one = replace(one, table=_marked(one.table, number == cluster, _mark(cluster)))
    header = replace(stated.header, groups=_in_all(stated.header.groups, numbers))
    if broker_in:
        header = replace(header, source=f"{header.source}, of another cluster, here named {one.broker}")
        one = replace(one, source=header.source)
    return replace(stated, header=header, of_groups=_in_all(stated.of_groups, numbers)), one


def _mark(cluster: int) -> str:
    return f"({cluster + 1})" if cluster else ""


def _in_all(groups: Mapping[str, Any], clusters: Sequence[int]) -> dict[str, Any]:
    """What is stated of groups, for each cluster with events in the file."""
    return {f"{group}{_mark(cluster)}": said for group, said in groups.items() for cluster in clusters}


def _marked(table: pa.Table, rows: Any, mark: str) -> pa.Table:
    """The events with a mark behind the names of brokers, topics and groups in these rows."""
    for name in ("broker", "group", "topic"):
        column = table.column(name).combine_chunks()
        words = column.dictionary.to_pylist()
        both = pa.array([*words, *(f"{word}{mark}" for word in words)], pa.string())
        places = column.indices.fill_null(0).to_numpy().astype(np.int32) + len(words) * rows
        kept = pa.array(places, pa.int32(), mask=~np.asarray(column.is_valid()))
        made = both.take(kept).dictionary_encode()
        table = table.set_column(ARROW.get_field_index(name), ARROW.field(name), made)
    for name, sign in (("queues", ":"), ("assigned", ":"), ("subscriptions", "=")):
        field, lists = ARROW.field(name), table.column(name).to_pylist()
        for row in np.flatnonzero(rows).tolist():
            lists[row] = lists[row] and [word.replace(sign, f"{mark}{sign}", 1) for word in lists[row]]
        table = table.set_column(ARROW.get_field_index(name), field, pa.array(lists, field.type))
    return table
