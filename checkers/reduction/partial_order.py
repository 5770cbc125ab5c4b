"""Partial-order reduction: of steps that do not influence each other, only those that can lead to what is asked.

The method is that of stubborn sets with attractors (Valmari 1989; Kristensen, Schmidt and Valmari 2006; the use of
guards is that of Laarman and others 2016). In each state a set of instances is formed such that

1. for each property that is not decided yet, every run that reaches a state that decides it takes a member;
2. for each member that cannot happen now, every run in which it happens takes another member before;
3. each member that can happen now accords with everything outside the set;
4. where deadlocks are asked for, some member can happen now.

Only members are then followed. In a shortest run that decides a property, the first member can be taken first (it can
happen now by 2, and accords by 3 with what came before it), which gives a run of the same length. So verdicts are kept,
shortest runs as well, and no further condition on cycles is needed: a property that can still be decided is one step
nearer to it. A state from which no undecided property can be decided needs no successors at all.

What such a search does not see: states, transitions and actions that matter to no verdict asked for; a write outside a
domain in a step that it does not take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import z3
from numba import njit
from numpy.typing import NDArray

from ...model.kernel import ModelError
from ...model.kernel.native import CodeCache, NativeMachine, compile_truths
from ...properties.property import Kind as PropertyKind
from ...properties.property import Property
from .. import native_calls
from .conditions import Conditions, Kind
from .dependence import Analysis, Dependence, key_of, load, store
from .observe import observe

_CAN_HAPPEN_NOW = 32
"""How much worse it is to add an instance that can happen now (it multiplies states) than one that cannot."""
_ATOM, _ALL = int(Kind.ATOM), int(Kind.ALL)


class Tables(NamedTuple):
    """Everything the search loop needs, as arrays; sets of instances are rows of 64-bit words."""

    active: bool
    truths: int
    disturbs: NDArray[np.uint64]
    guards: NDArray[np.int64]
    targets: NDArray[np.int64]
    kinds: NDArray[np.int64]
    first_part: NDArray[np.int64]
    parts: NDArray[np.int64]
    bit_of: NDArray[np.int64]
    enablers: NDArray[np.uint64]
    deadlocks: bool
    bits: NDArray[np.uint64]
    enabled: NDArray[np.uint64]
    chosen: NDArray[np.uint64]
    trial: NDArray[np.uint64]
    best: NDArray[np.uint64]
    waiting: NDArray[np.int64]
    pending: NDArray[np.int64]
    choices: NDArray[np.int64]
    stamps: NDArray[np.int64]


def no_partial_order() -> Tables:
    """Tables with which nothing is left out."""
    sets, row, numbers = np.zeros((0, 0), np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.int64)
    return Tables(
        active=False,
        truths=0,
        disturbs=sets,
        guards=numbers,
        targets=numbers,
        kinds=numbers,
        first_part=numbers,
        parts=numbers,
        bit_of=numbers,
        enablers=sets,
        deadlocks=False,
        bits=row,
        enabled=row,
        chosen=row,
        trial=row,
        best=row,
        waiting=numbers,
        pending=numbers,
        choices=numbers,
        stamps=numbers,
    )


class PartialOrder:
    """Partial-order reduction of one configuration for the properties asked.

    Attributes:
        dependence: which instances disturb each other, and which enable what.
        tables: what the search loop uses.
    """

    def __init__(
        self,
        native: NativeMachine,
        properties: Sequence[Property],
        *,
        deadlocks: bool,
        cache: CodeCache | None = None,
    ) -> None:
        """Analyse the configuration.

        Raises:
            ModelError: nothing is asked, so that nothing would have to be kept.
        """
        if not properties and not deadlocks:
            raise ModelError(
                "partial-order reduction keeps what is asked, but nothing is; give properties, or deadlocks=True."
            )
        traced = native.traced
        conditions = Conditions()
        guards = [conditions.add(instance.guard) for instance in traced.instances]
        targets = [
            conditions.add(traced.predicates[item.id].term, wanted=item.kind is PropertyKind.SOMETIMES)
            for item in properties
        ]
        nodes = conditions.nodes
        atoms = [number for number, node in enumerate(nodes) if node.kind is Kind.ATOM]
        judged = dict.fromkeys(atoms)
        for node in nodes:
            if node.kind is Kind.ALL:
                judged.update(dict.fromkeys(node.parts))
        truths = compile_truths(traced, [nodes[number].term for number in judged], cache=cache)
        self._truths = truths  # owns the code
        atom_terms = [z3.simplify(nodes[number].term) for number in atoms]
        self.dependence = _dependence(native, truths, atom_terms, cache)
        bit_of = np.full(len(nodes), -1, np.int64)
        bit_of[list(judged)] = np.arange(len(judged))
        words = max(1, -(-len(traced.instances) // 64))
        first_part = np.zeros(len(nodes) + 1, np.int64)
        first_part[1:] = np.cumsum([len(node.parts) for node in nodes])
        stack = len(traced.instances) + len(nodes) + 1
        self.tables = Tables(
            active=True,
            truths=truths.address,
            disturbs=_packed(self.dependence.disturbs, words),
            guards=np.array(guards, np.int64),
            targets=np.array(targets, np.int64),
            kinds=np.array([int(node.kind) for node in nodes], np.int64),
            first_part=first_part,
            parts=np.array([part for node in nodes for part in node.parts], np.int64),
            bit_of=bit_of,
            enablers=_packed(_enablers(conditions, atoms, self.dependence), words),
            deadlocks=deadlocks,
            bits=np.zeros(max(1, truths.words), np.uint64),
            enabled=np.zeros(words, np.uint64),
            chosen=np.zeros(words, np.uint64),
            trial=np.zeros(words, np.uint64),
            best=np.zeros(words, np.uint64),
            waiting=np.zeros(stack, np.int64),
            pending=np.zeros(stack, np.int64),
            choices=np.zeros(stack, np.int64),
            stamps=np.zeros(len(nodes) + 1, np.int64),
        )


def _dependence(native: NativeMachine, truths: Any, atoms: Sequence[Any], cache: CodeCache | None) -> Dependence:
    traced = native.traced
    key = key_of(traced, atoms) if cache is not None else ""
    known = load(cache, key, len(traced.instances), len(atoms))
    if known is None:
        known = Analysis(traced).dependence(atoms, *observe(native, truths, len(atoms)))
        store(cache, key, known)
    return known


def _enablers(conditions: Conditions, atoms: Sequence[int], dependence: Dependence) -> NDArray[np.bool_]:
    """For each node the instances that a run needs at least one of before it is true: parts stand before their users."""
    result = np.zeros((len(conditions.nodes), dependence.enables.shape[1]), np.bool_)
    result[list(atoms)] = dependence.enables
    for number, node in enumerate(conditions.nodes):
        if node.kind is Kind.ANY:
            result[number] = result[list(node.parts)].any(axis=0)
        elif node.kind is Kind.ALL:
            result[number] = min((result[part] for part in node.parts), key=lambda row: int(row.sum()))
    return result


def _packed(rows: NDArray[np.bool_], words: int) -> NDArray[np.uint64]:
    padded = np.zeros((len(rows), words * 64), np.bool_)
    padded[:, : rows.shape[1]] = rows
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


@njit(cache=True)
def keep(
    tables: Tables, found: Any, deadlock_found: bool, state: int, out: Any, tags: Any, start: int, count: int
) -> int:
    """Drop the successors ``start … start+count-1`` in ``out`` that need not be followed; returns how many are left.

    ``state`` is the address of the state they come from.
    """
    if not tables.active:
        return count
    enabled, chosen, stamps, pending = tables.enabled, tables.chosen, tables.stamps, tables.pending
    for word in range(len(enabled)):
        enabled[word] = chosen[word] = 0
    for item in range(start, start + count):
        enabled[tags[item] >> 6] |= np.uint64(1) << np.uint64(tags[item] & 63)
    native_calls.call_truths(tables.truths, state, tables.bits.ctypes.data)
    stamps[-1] += 1
    nodes = np.int64(0)
    for target in range(len(tables.targets)):
        if found[target] == native_calls.NOT_FOUND:
            nodes = _push(stamps, pending, tables.targets[target], nodes)
    _close(tables, chosen, nodes, np.int64(0))
    if tables.deadlocks and not deadlock_found and count > 0 and not _meet(chosen, enabled):
        _add_some_enabled(tables, tags, start, count)
    left = start
    for item in range(start, start + count):
        if (chosen[tags[item] >> 6] >> np.uint64(tags[item] & 63)) & np.uint64(1):
            if left != item:
                for column in range(out.shape[1]):
                    out[left, column] = out[item, column]
                tags[left] = tags[item]
            left += 1
    return left - start


@njit(cache=True)
def _add_some_enabled(tables: Tables, tags: Any, start: int, count: int) -> None:
    """Add to the chosen set, which has no enabled member, the smallest closure of one enabled instance."""
    chosen, trial, best = tables.chosen, tables.trial, tables.best
    fewest = count + 1
    for item in range(start, start + count):
        for word in range(len(trial)):
            trial[word] = chosen[word]
        trial[tags[item] >> 6] |= np.uint64(1) << np.uint64(tags[item] & 63)
        tables.stamps[-1] += 1
        tables.waiting[0] = tags[item]
        _close(tables, trial, np.int64(0), np.int64(1))
        number = 0
        for word in range(len(trial)):
            number += _ones(trial[word] & tables.enabled[word])
        if number < fewest:
            fewest = number
            for word in range(len(trial)):
                best[word] = trial[word]
            if number == 1:
                break
    for word in range(len(best)):
        chosen[word] = best[word]


@njit(cache=True)
def _close(tables: Tables, members: Any, nodes: int, instances: int) -> None:
    """Add to ``members`` what conditions 1 to 3 ask for.

    ``pending`` has ``nodes`` false conditions on it, and ``waiting`` as many ``instances`` whose consequences are still
    to be added. Of a false conjunction one false part is chosen, later, when it is known what is in the set anyway.
    """
    # Fetched once: each access to a member of a tuple of arrays counts references.
    waiting, pending, choices, stamps = tables.waiting, tables.pending, tables.choices, tables.stamps
    kinds, first_part, parts, guards = tables.kinds, tables.first_part, tables.parts, tables.guards
    bits, bit_of, enabled = tables.bits, tables.bit_of, tables.enabled
    disturbs, enablers = tables.disturbs, tables.enablers
    undecided = np.int64(0)
    while True:
        if instances > 0:
            instances -= 1
            instance = waiting[instances]
            if (enabled[instance >> 6] >> np.uint64(instance & 63)) & np.uint64(1):
                instances = _add_all(waiting, members, disturbs, instance, instances)
            else:
                nodes = _push(stamps, pending, guards[instance], nodes)
        elif nodes > 0:
            nodes -= 1
            node = pending[nodes]
            if kinds[node] == _ATOM:
                instances = _add_all(waiting, members, enablers, node, instances)
            elif kinds[node] == _ALL:
                choices[undecided] = node
                undecided += 1
            else:
                for place in range(first_part[node], first_part[node + 1]):
                    nodes = _push(stamps, pending, parts[place], nodes)
        elif undecided > 0:
            everything = True
            for word in range(len(members)):
                if enabled[word] & ~members[word]:
                    everything = False
            if everything:
                return
            undecided -= 1
            node = choices[undecided]
            best = -1
            least = np.int64(1) << np.int64(60)
            for place in range(first_part[node], first_part[node + 1]):
                part = parts[place]
                bit = bit_of[part]
                if (bits[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
                    continue
                cost = np.int64(0)
                for word in range(len(members)):
                    new = enablers[part, word] & ~members[word]
                    if new:
                        cost += _ones(new) + _CAN_HAPPEN_NOW * _ones(new & enabled[word])
                if cost < least:
                    least = cost
                    best = part
            nodes = _push(stamps, pending, best, nodes)
        else:
            return


@njit(cache=True)
def _push(stamps: Any, pending: Any, node: int, nodes: int) -> int:
    """Put a condition on the stack unless it has been there before."""
    if stamps[node] != stamps[-1]:
        stamps[node] = stamps[-1]
        pending[nodes] = node
        nodes += 1
    return nodes


@njit(cache=True)
def _add_all(waiting: Any, members: Any, sets: Any, row: int, instances: int) -> int:
    """Add a set of instances; the new ones have their consequences to be added."""
    for word in range(len(members)):
        new = sets[row, word] & ~members[word]
        members[word] |= new
        while new:
            lowest = new & (~new + np.uint64(1))
            waiting[instances] = word * 64 + _ones(lowest - np.uint64(1))
            instances += 1
            new ^= lowest
    return instances


@njit(cache=True)
def _meet(one: Any, other: Any) -> bool:
    for word in range(len(one)):
        if one[word] & other[word]:
            return True
    return False


@njit(cache=True)
def _ones(word: Any) -> int:
    """Number of bits that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
