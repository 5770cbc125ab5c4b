// Breadth-first search: all states within a limit, or a shortest run to one that is asked for.

const FREE = -1;

/** States that were seen, packed, each with the state and the instance it was first reached by; an open hash table. */
class Seen {
  constructor(words) {
    this.words = words;
    this.count = 0;
    this.room = 1 << 12;
    this.states = new Uint32Array(this.room * words);
    this.parents = new Int32Array(this.room);
    this.via = new Uint16Array(this.room);
    this.slots = new Int32Array(this.room * 2).fill(FREE);
  }

  /** Keep the state at `o[p]` unless it is known; returns whether it is new. */
  add(o, p, parent, via) {
    const { words, states, slots } = this;
    const last = slots.length - 1;
    let slot = hash(o, p, words) & last;
    for (let row = slots[slot]; row !== FREE; row = slots[slot]) {
      let word = 0;
      while (word < words && states[row * words + word] === o[p + word]) word += 1;
      if (word === words) return false;
      slot = (slot + 1) & last;
    }
    if (this.count === this.room) {
      this.#grow();
      return this.add(o, p, parent, via);
    }
    const row = this.count;
    this.count += 1;
    slots[slot] = row;
    for (let word = 0; word < words; word += 1) states[row * words + word] = o[p + word];
    this.parents[row] = parent;
    this.via[row] = via;
    return true;
  }

  /** Numbers of the instances that lead from the initial state to a row. */
  path(row) {
    const steps = [];
    for (let at = row; this.parents[at] >= 0; at = this.parents[at]) steps.push(this.via[at]);
    return steps.reverse();
  }

  #grow() {
    const { words } = this;
    this.room *= 2;
    this.states = larger(this.states, this.room * words);
    this.parents = larger(this.parents, this.room);
    this.via = larger(this.via, this.room);
    this.slots = new Int32Array(this.room * 2).fill(FREE);
    const last = this.slots.length - 1;
    for (let row = 0; row < this.count; row += 1) {
      let slot = hash(this.states, row * words, words) & last;
      while (this.slots[slot] !== FREE) slot = (slot + 1) & last;
      this.slots[slot] = row;
    }
  }
}

function larger(old, length) {
  const made = new old.constructor(length);
  made.set(old);
  return made;
}

function hash(o, p, words) {
  let mixed = 0x9e3779b9;
  for (let word = 0; word < words; word += 1) {
    mixed = Math.imul(mixed ^ o[p + word], 0x85ebca6b);
    mixed ^= mixed >>> 15;
  }
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/**
 * A search that goes on in slices, so that whoever runs it can tell how far it is, and stop it.
 *
 * `from`: a state; `goal(state)`: whether a state is looked for; `goalStep(instance)`: whether a step is;
 * `limit`: distinct states after which it gives up.
 */
export class Search {
  constructor(machine, { from = machine.initial, goal = null, goalStep = null, limit = Infinity } = {}) {
    this.machine = machine;
    this.goal = goal;
    this.goalStep = goalStep;
    this.limit = limit;
    this.seen = new Seen(machine.layout.words);
    this.transitions = 0;
    this.depth = 0;
    this.next = 0;
    this.levelEnd = 1;
    this.found = null;
    this.dead = 0;
    this.state = Int32Array.from(from);
    this.out = new Uint32Array(machine.layout.words);
    const { layout } = machine;
    layout.places.forEach(({ word, shift, low }, cell) => {
      this.out[word] |= (from[cell] - low) << shift;
    });
    this.seen.add(this.out, 0, -1, 0);
    if (goal && goal(this.state)) this.found = [];
  }

  /** Whether there is nothing left to do: found, all seen, or the limit reached. */
  get done() {
    return this.found !== null || this.next === this.seen.count || this.seen.count >= this.limit;
  }

  /** Whether every reachable state was seen. */
  get complete() {
    return this.next === this.seen.count;
  }

  /** Expand at most `states` further states; returns whether the search is done. */
  advance(states) {
    const { machine, seen, state, out, goal, goalStep, limit } = this;
    const { steps } = machine;
    const words = machine.layout.words;
    for (let left = states; left > 0 && !this.done; left -= 1) {
      if (this.next === this.levelEnd) {
        this.depth += 1;
        this.levelEnd = seen.count;
      }
      const row = this.next;
      this.next += 1;
      machine.unpack(seen.states, row * words, state);
      let successors = 0;
      for (let number = 0; number < steps.length; number += 1) {
        if (!steps[number](state, seen.states, row * words, out, 0)) continue;
        successors += 1;
        if (goalStep && goalStep(number)) {
          this.found = [...seen.path(row), number];
          return true;
        }
        if (seen.add(out, 0, row, number) && goal && this.#reached(seen.count - 1)) return true;
        if (seen.count >= limit) break;
      }
      this.transitions += successors;
      if (successors === 0) this.dead += 1;
    }
    return this.done;
  }

  /** What was seen so far, as plain data. */
  report() {
    const { transitions, depth, complete, found, dead } = this;
    return { states: this.seen.count, waiting: this.seen.count - this.next, transitions, depth, complete, found, dead };
  }

  #reached(row) {
    this.reachedState ??= new Int32Array(this.state.length);
    this.machine.unpack(this.seen.states, row * this.machine.layout.words, this.reachedState);
    if (!this.goal(this.reachedState)) return false;
    this.found = this.seen.path(row);
    return true;
  }
}
