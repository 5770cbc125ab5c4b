// Words for what the model computes: cells, values, and the conditions of a guard.

import { operands, operation } from "../kernel/program.mjs";
import { say } from "./language.mjs";

const LONGEST = 240;

/** The words of one configuration. */
export class Words {
  constructor(model) {
    this.model = model;
    this.labels = model.cells.map(([family, ...index]) => {
      const { name, dims } = model.families[family];
      return index.length ? `${name}[${index.map((item, at) => dims[at].label + item).join(", ")}]` : name;
    });
  }

  family(cell) {
    return this.model.families[this.model.cells[cell][0]];
  }

  /** A value as the machine's author would write it. */
  value(cell, number) {
    const family = this.family(cell);
    if (family.bool) return number ? say("yes") : say("no");
    return family.values ? family.values[number] : String(number);
  }

  /** `label: old → new` for each cell that differs. */
  changes(before, after) {
    return this.labels.flatMap((label, cell) =>
      before[cell] === after[cell]
        ? []
        : [{ cell, label, old: this.value(cell, before[cell]), now: this.value(cell, after[cell]) }],
    );
  }

  /** A condition in words; of a long one only what decides it now, by `value(node)`; null where that is too long as well. */
  condition(node, value = null) {
    const whole = this.#spell(node, 0, null);
    const text = whole.length > LONGEST && value ? this.#spell(node, 0, value) : whole;
    return text.length > LONGEST ? null : text;
  }

  /** Cells that a node depends on. */
  cellsOf(node) {
    const cells = new Set();
    const waiting = [node];
    const seen = new Set();
    while (waiting.length) {
      const number = waiting.pop();
      if (seen.has(number)) continue;
      seen.add(number);
      const found = this.model.nodes[number];
      if (operation(found) === "cell") cells.add(found[1]);
      waiting.push(...operands(found));
    }
    return [...cells].sort((a, b) => a - b);
  }

  #spell(number, depth, value) {
    const node = this.model.nodes[number];
    if (depth > 12) return "…".repeat(LONGEST);
    const args = value ? this.#deciding(number, value) : operands(node);
    const inner = (arg) => this.#spell(arg, depth + 1, value);
    if (args.length === 1 && operation(node) !== "not" && operation(node) !== "cell") return inner(args[0]);
    const wrapped = (arg) => (["and", "or", "ite"].includes(operation(this.model.nodes[arg])) ? `(${inner(arg)})` : inner(arg));
    switch (operation(node)) {
      case "const": return node[2] ? (node[1] ? say("true") : say("false")) : String(node[1]);
      case "cell": return this.labels[node[1]];
      case "add": return args.map(wrapped).join(" + ");
      case "mul": return args.map(wrapped).join(" · ");
      case "div": return args.map(wrapped).join(" / ");
      case "mod": return args.map(wrapped).join(" mod ");
      case "le": return this.#compare(args, "≤", inner);
      case "eq": return this.#compare(args, "is", inner);
      case "and": return args.map(wrapped).join(say(" and "));
      case "or": return args.map(wrapped).join(say(" or "));
      case "not": return this.#not(args[0], inner, wrapped);
      default: return say("if {0} then {1} else {2}", ...args.map(wrapped));
    }
  }

  /** Operands that make a node what it is now: what fails of several, what is so of alternatives, the branch that is taken. */
  #deciding(number, value) {
    const node = this.model.nodes[number];
    const args = operands(node);
    switch (operation(node)) {
      case "and": return value(number) ? args : args.filter((arg) => !value(arg));
      case "or": return value(number) ? args.filter((arg) => value(arg)) : args;
      case "ite": return [value(args[0]) ? args[1] : args[2]];
      default: return args;
    }
  }

  #not(number, inner, wrapped) {
    const node = this.model.nodes[number];
    const args = operands(node);
    if (operation(node) === "le") return this.#compare(args, ">", inner);
    if (operation(node) === "eq") return this.#compare(args, "is not", inner);
    return say("not {0}", wrapped(number));
  }

  /** Constants stand on the right, and are named as the cell on the left names its values. */
  #compare([left, right], sign, inner) {
    const mirrored = { "≤": "≥", ">": "<" };
    const known = (arg) => operation(this.model.nodes[arg]) === "const";
    if (known(left) && !known(right)) return this.#compare([right, left], mirrored[sign] ?? sign, inner);
    const variable = this.model.nodes[left];
    const constant = this.model.nodes[right];
    if (known(right) && operation(variable) === "cell" && !constant[2]) {
      return `${inner(left)} ${say(sign)} ${this.value(variable[1], constant[1]) ?? constant[1]}`;
    }
    return `${inner(left)} ${sign === "is" && this.model.nodes[right][0] !== 0 ? "=" : say(sign)} ${inner(right)}`;
  }
}
