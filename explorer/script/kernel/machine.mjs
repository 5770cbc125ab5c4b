// A configuration as JavaScript functions, made from its straight-line program when the page is opened.

import { evaluate, Writer } from "./program.mjs";
import { layout, pack } from "./layout.mjs";

/** What `step` throws where an action writes outside a declared domain. */
export class OutsideDomain extends Error {}

/** A configuration that can be stepped, judged and searched. States are Int32Arrays with one number for each cell. */
export class Machine {
  constructor(model) {
    this.model = model;
    this.layout = layout(model);
    this.initial = Int32Array.from(model.initial);
    this.truth = model.cells.map(([family]) => model.families[family].bool);
    this.isTruth = (cell) => this.truth[cell];
    this.steps = model.instances.map((instance) => this.#compileStep(instance));
    this.predicates = new Map();
    const { places } = this.layout;
    const cells = places.map(
      ({ word, shift, mask, low }, cell) => `s[${cell}] = ((w[b + ${word}] >>> ${shift}) & ${mask}) + ${low};`,
    );
    this.unpack = new Function("w", "b", "s", cells.join("\n"));
  }

  /** The state after instance `number`, or null where it is not enabled. */
  step(state, number) {
    const before = pack(this.layout, state);
    const after = new Uint32Array(this.layout.words);
    if (!this.steps[number](state, before, 0, after, 0)) return null;
    const following = new Int32Array(state.length);
    this.unpack(after, 0, following);
    return following;
  }

  /** Numbers of the instances that can happen in `state`. */
  enabled(state) {
    return this.model.instances.flatMap((_, number) => (this.step(state, number) ? [number] : []));
  }

  /** Parts of the guard of an instance that are false in `state`, as numbers of nodes. */
  failing(state, number) {
    return this.model.instances[number].guard.filter((part) => !this.value(part, state));
  }

  /** Value of any node of the program in `state`. */
  value(node, state) {
    return evaluate(this.model.nodes, this.isTruth, node, state);
  }

  /** A node that is a truth value, as a function of states. */
  predicate(node) {
    let found = this.predicates.get(node);
    if (!found) {
      const { lines, expression } = new Writer(this.model.nodes, this.isTruth, [node]).write(node);
      found = new Function("s", `${lines.join("\n")}\nreturn ${expression};`);
      this.predicates.set(node, found);
    }
    return found;
  }

  /** `(s, w, b, o, p)`: whether it can happen in state `s`, packed at `w[b]`; then the next is packed at `o[p]`. */
  #compileStep(instance) {
    const { updates, checks, guard, label } = instance;
    const roots = [...guard, ...checks.flatMap(([condition, value]) => [condition, value]), ...updates.map(([, n]) => n)];
    const writer = new Writer(this.model.nodes, this.isTruth, roots);
    const lines = [];
    const use = (node) => {
      const written = writer.write(node);
      lines.push(...written.lines);
      return written.expression;
    };
    for (const part of guard) {
      const expression = use(part);
      lines.push(`if (!${expression}) return false;`);
    }
    checks.forEach(([condition, value], number) => {
      const expression = use(condition);
      const written = use(value);
      lines.push(`if (!${expression}) outside(${number}, ${written});`);
    });
    const { words, places } = this.layout;
    const kept = new Int32Array(words).fill(-1);
    const parts = Array.from({ length: words }, () => []);
    for (const [cell, node] of updates) {
      const { word, shift, mask, low } = places[cell];
      const value = this.truth[cell] ? `(${use(node)} ? 1 : 0)` : `(${use(node)} - ${low})`;
      kept[word] &= ~(mask << shift);
      parts[word].push(`${value} << ${shift}`);
    }
    parts.forEach((list, word) => {
      const rest = kept[word] === -1 ? `w[b + ${word}]` : `(w[b + ${word}] & ${kept[word]})`;
      lines.push(`o[p + ${word}] = ${[rest, ...list.map((part) => `(${part})`)].join(" | ")};`);
    });
    lines.push("return true;");
    const outside = (number, value) => {
      const [, , written, allowed] = checks[number];
      throw new OutsideDomain(`${label} writes ${Number(value)} to ${written}, allowed is ${allowed}`);
    };
    return new Function("outside", `return (s, w, b, o, p) => {\n${lines.join("\n")}\n};`)(outside);
  }
}
