"""Partial-order reduction: of steps that do not influence each other, only those that can decide a property are
taken.

The method is that of stubborn sets with attractors (Valmari 1989; Kristensen, Schmidt and Valmari 2006; the use of
guards is that of Laarman and others 2016). In each state a set of instances is formed such that

1. for each property that is not decided yet, every run that reaches a state that decides it takes a member;
2. for each member that cannot happen now, every run in which it happens takes another member before;
3. each member that can happen now accords with everything outside the set;
4. if deadlocks are to be judged, some member can happen now.

Only members are then followed. In a shortest run that decides a property, the first member can be taken first (it can
happen now by 2, and accords by 3 with what came before it), which gives a run of the same length. Therefore verdicts
are kept, and so are shortest runs, and no further condition on cycles is needed: a property that can still be decided
is one step nearer to it. A state from which no undecided property can be decided needs no successors at all.

If this leaves out less than a fifth of the steps, it costs more than it saves; all steps are then followed for a while,
which preserves everything said above.

What such a search does not see: states, transitions and actions that affect none of the verdicts; a write outside a
domain in a step that it does not take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import z3
from numpy.typing import NDArray

from ...machine_code.compiled import part
from ...model.kernel import ModelError
from ...model.kernel.native import CodeCache, NativeMachine, compile_truths
from ...properties.property import Kind as PropertyKind
from ...properties.property import Property
from ..search.native_calls import NOT_FOUND, call_with_result
from .conditions import Conditions, Kind
from .dependence import Analysis, Dependence, key_of, load, store
from .observe import observe

_WINDOW = 2048
"""Number of states that are expanded before it is decided whether the reduction pays."""

_PAUSE = 16 * _WINDOW
"""Number of states for which everything is followed if the reduction does not pay; doubled each time."""

_CAN_HAPPEN_NOW = 32
"""How much worse it is to add an instance that can happen now (it multiplies states) than one that cannot."""
_ATOM, _ALL = int(Kind.ATOM), int(Kind.ALL)


class Tables(NamedTuple):
    """Everything that the search loop needs, in few arrays, since passing each of them costs time.

    Attributes:
        active: whether anything is to be left out.
        truths: address of the function that evaluates the conditions on which a choice depends.
        deadlocks: whether deadlocks are to be preserved.
        nodes: for each condition, its kind, where its parts begin and end in ``parts``, and its bit among the truths.
        guards, targets: conditions of the instances and of the properties.
        sets: sets of instances as rows of 64-bit words: first, for each instance, those that it disturbs; then, for
            each condition, those of which a run needs one before the condition is true.
        bits: truths of the present state.
        words: working sets: the instances that can happen, those chosen, and two for trials.
        stacks: instances to be followed, conditions to be followed, choices to be made.
        stamps: when each condition was last followed; the last element is the present time.
        meter: states and successors seen since the last decision whether the reduction pays, successors kept of them,
            states still to be expanded without reduction, and how many there will be the next time.
    """

    active: bool
    truths: int
    deadlocks: bool
    nodes: NDArray[np.int64]
    parts: NDArray[np.int64]
    guards: NDArray[np.int64]
    targets: NDArray[np.int64]
    sets: NDArray[np.uint64]
    bits: NDArray[np.uint64]
    words: NDArray[np.uint64]
    stacks: NDArray[np.int64]
    stamps: NDArray[np.int64]
    meter: NDArray[np.int64]


_KIND, _FIRST, _LAST, _BIT = range(4)
_ENABLED, _CHOSEN, _TRIAL, _BEST = range(4)
_INSTANCES, _CONDITIONS, _CHOICES = range(3)
_STATES, _SEEN, _KEPT, _PASSED, _NEXT_PAUSE = range(5)


def no_partial_order() -> Tables:
    """Tables with which nothing is left out."""
    sets, numbers = np.zeros((0, 0), np.uint64), np.zeros(0, np.int64)
    rows = np.zeros((0, 0), np.int64)
    return Tables(
        False, 0, False, rows, numbers, numbers, numbers, sets, np.zeros(0, np.uint64), sets, rows, numbers, numbers
    )


class PartialOrder:
    """Partial-order reduction of one configuration for given properties.

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
            ModelError: there is no property and no deadlock to judge, so nothing would have to be preserved.
        """
        if not properties and not deadlocks:
            raise ModelError(
                "partial-order reduction keeps what is asked, but nothing is; give properties, or deadlocks=True."
            )
        lowered = native.lowered
        conditions = Conditions()
        guards = [conditions.add(instance.guard) for instance in lowered.instances]
        targets = [
            conditions.add(lowered.predicates[item.id].term, wanted=item.kind is PropertyKind.SOMETIMES)
            for item in properties
        ]
        nodes = conditions.nodes
        atoms = [number for number, node in enumerate(nodes) if node.kind is Kind.ATOM]
        judged = dict.fromkeys(atoms)
        for node in nodes:
            if node.kind is Kind.ALL:
                judged.update(dict.fromkeys(node.parts))
        truths = compile_truths(lowered, [nodes[number].term for number in judged], cache=cache)
        self._truths = truths  # owns the code
        atom_terms = [z3.simplify(nodes[number].term) for number in atoms]
        self.dependence = _dependence(native, truths, atom_terms, cache)
        ends = np.cumsum([len(node.parts) for node in nodes])
        bit_of = {number: bit for bit, number in enumerate(judged)}
        rows = [
            (int(node.kind), int(end) - len(node.parts), int(end), bit_of.get(number, -1))
            for number, (node, end) in enumerate(zip(nodes, ends, strict=True))
        ]
        words = max(1, -(-len(lowered.instances) // 64))
        sets = [self.dependence.disturbs, _enablers(conditions, atoms, self.dependence)]
        self.tables = Tables(
            active=True,
            truths=truths.address,
            deadlocks=deadlocks,
            nodes=np.array(rows, np.int64).reshape(len(nodes), 4),
            parts=np.array([part for node in nodes for part in node.parts], np.int64),
            guards=np.array(guards, np.int64),
            targets=np.array(targets, np.int64),
            sets=_packed(np.concatenate(sets), words),
            bits=np.zeros(max(1, truths.words), np.uint64),
            words=np.zeros((4, words), np.uint64),
            stacks=np.zeros((3, len(lowered.instances) + len(nodes) + 1), np.int64),
            stamps=np.zeros(len(nodes) + 1, np.int64),
            meter=np.array([0, 0, 0, 0, _PAUSE], np.int64),
        )


def _dependence(native: NativeMachine, truths: Any, atoms: Sequence[Any], cache: CodeCache | None) -> Dependence:
    lowered = native.lowered
    key = key_of(lowered, atoms) if cache is not None else ""
    known = load(cache, key, len(lowered.instances), len(atoms))
    if known is None:
        known = Analysis(lowered).dependence(atoms, *observe(native, truths, len(atoms)))
        store(cache, key, known)
    return known


def _enablers(conditions: Conditions, atoms: Sequence[int], dependence: Dependence) -> NDArray[np.bool_]:
    """For each node, the instances of which a run needs one before the node is true; parts come before their users."""
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


@part
def keep(
    tables: Tables, found: Any, deadlock_found: bool, states: int, ends: Any, out: Any, tags: Any, sources: Any
) -> Any:
    """Drop the successors in ``out`` that need not be followed; returns how many are left.

    ``states`` is the address of the states they come from, which stand one after the other; the successors of the
    ``i``-th of them end at ``ends[i]``.
    """
    row_bytes = out.shape[1] * 8
    active, truths, deadlocks = tables.active, tables.truths, tables.deadlocks and not deadlock_found
    nodes, parts, guards, targets, sets = tables.nodes, tables.parts, tables.guards, tables.targets, tables.sets
    bits, words, stacks, stamps, meter = tables.bits, tables.words, tables.stacks, tables.stamps, tables.meter
    if not active:
        return np.int64(ends[-1])
    if meter[_PASSED] > 0:
        meter[_PASSED] -= len(ends)
        return np.int64(ends[-1])
    left = np.int64(0)
    start = np.int64(0)
    for state in range(len(ends)):
        end = ends[state]
        for word in range(words.shape[1]):
            words[_ENABLED, word] = words[_CHOSEN, word] = 0
        for item in range(start, end):
            words[_ENABLED, tags[item] >> 6] |= np.uint64(1) << np.uint64(tags[item] & 63)
        call_with_result(truths, states + state * row_bytes, bits.ctypes.data)
        stamps[-1] += 1
        conditions = np.int64(0)
        for target in range(len(targets)):
            if found[target] == NOT_FOUND:
                conditions = _push(stamps, stacks, targets[target], conditions)
        _close(nodes, parts, guards, sets, bits, words, stacks, stamps, np.int64(_CHOSEN), np.int64(0), conditions)
        if deadlocks and end > start and _shared(words, _CHOSEN) == 0:
            fewest = end - start + 1
            for item in range(start, end):
                for word in range(words.shape[1]):
                    words[_TRIAL, word] = words[_CHOSEN, word]
                words[_TRIAL, tags[item] >> 6] |= np.uint64(1) << np.uint64(tags[item] & 63)
                stamps[-1] += 1
                stacks[_INSTANCES, 0] = tags[item]
                _close(
                    nodes, parts, guards, sets, bits, words, stacks, stamps, np.int64(_TRIAL), np.int64(1), np.int64(0)
                )
                number = _shared(words, _TRIAL)
                if number < fewest:
                    fewest = number
                    for word in range(words.shape[1]):
                        words[_BEST, word] = words[_TRIAL, word]
                    if number == 1:
                        break
            for word in range(words.shape[1]):
                words[_CHOSEN, word] = words[_BEST, word]
        for item in range(start, end):
            if (words[_CHOSEN, tags[item] >> 6] >> np.uint64(tags[item] & 63)) & np.uint64(1):
                if left != item:
                    for column in range(out.shape[1]):
                        out[left, column] = out[item, column]
                    tags[left] = tags[item]
                    sources[left] = sources[item]
                left += 1
        start = end
    meter[_STATES] += len(ends)
    meter[_SEEN] += start
    meter[_KEPT] += left
    if meter[_STATES] >= _WINDOW:
        if meter[_KEPT] * 5 > meter[_SEEN] * 4:
            meter[_PASSED] = meter[_NEXT_PAUSE]
            meter[_NEXT_PAUSE] *= 2
        else:
            meter[_NEXT_PAUSE] = _PAUSE
        meter[_STATES] = meter[_SEEN] = meter[_KEPT] = 0
    return left


@part
def _close(
    nodes: Any,
    parts: Any,
    guards: Any,
    sets: Any,
    bits: Any,
    words: Any,
    stacks: Any,
    stamps: Any,
    members: Any,
    instances: Any,
    conditions: Any,
) -> None:
    """Complete the set ``words[members]`` as the module docstring requires.

    The stacks hold ``instances`` whose consequences are still to be added, and false ``conditions``. For a false
    conjunction, one false part is chosen later, when it is known what is in the set anyway.
    """
    choices = np.int64(0)
    width = words.shape[1]
    while True:
        if instances > 0:
            instances -= 1
            instance = stacks[_INSTANCES, instances]
            if (words[_ENABLED, instance >> 6] >> np.uint64(instance & 63)) & np.uint64(1):
                instances = _add_all(stacks, words, members, sets, instance, instances)
            else:
                conditions = _push(stamps, stacks, guards[instance], conditions)
        elif conditions > 0:
            conditions -= 1
            node = stacks[_CONDITIONS, conditions]
            if nodes[node, _KIND] == _ATOM:
                instances = _add_all(stacks, words, members, sets, len(guards) + node, instances)
            elif nodes[node, _KIND] == _ALL:
                stacks[_CHOICES, choices] = node
                choices += 1
            else:
                for place in range(nodes[node, _FIRST], nodes[node, _LAST]):
                    conditions = _push(stamps, stacks, parts[place], conditions)
        elif choices > 0:
            everything = True
            for word in range(width):
                if words[_ENABLED, word] & ~words[members, word]:
                    everything = False
            if everything:
                return
            choices -= 1
            node = stacks[_CHOICES, choices]
            best = np.int64(-1)
            least = np.int64(1) << np.int64(60)
            for place in range(nodes[node, _FIRST], nodes[node, _LAST]):
                part = parts[place]
                bit = nodes[part, _BIT]
                if (bits[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1):
                    continue
                cost = np.int64(0)
                for word in range(width):
                    new = sets[len(guards) + part, word] & ~words[members, word]
                    if new:
                        cost += _ones(new) + _CAN_HAPPEN_NOW * _ones(new & words[_ENABLED, word])
                if cost < least:
                    least = cost
                    best = part
            conditions = _push(stamps, stacks, best, conditions)
        else:
            return


@part
def _push(stamps: Any, stacks: Any, node: Any, conditions: Any) -> Any:
    """Put a condition on the stack unless it has been there before."""
    if stamps[node] != stamps[-1]:
        stamps[node] = stamps[-1]
        stacks[_CONDITIONS, conditions] = node
        conditions += 1
    return conditions


@part
def _add_all(stacks: Any, words: Any, members: Any, sets: Any, row: Any, instances: Any) -> Any:
    """Add a set of instances; the consequences of the new ones are still to be added."""
    for word in range(words.shape[1]):
        new = sets[row, word] & ~words[members, word]
        words[members, word] |= new
        while new:
            lowest = new & (~new + np.uint64(1))
            stacks[_INSTANCES, instances] = word * 64 + _ones(lowest - np.uint64(1))
            instances += 1
            new ^= lowest
    return instances


@part
def _shared(words: Any, members: int) -> Any:
    """Number of members that can happen now."""
    number = np.int64(0)
    for word in range(words.shape[1]):
        number += _ones(words[members, word] & words[_ENABLED, word])
    return number


@part
def _ones(word: Any) -> Any:
    """Number of bits that are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
