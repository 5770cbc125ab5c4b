// The straight-line program of a configuration: nodes as arrays, in an order in which operands come first.

/** Operations by number, as model/kernel/program.py lists them. */
export const OPERATIONS = ["const", "cell", "add", "mul", "div", "mod", "le", "eq", "not", "and", "or", "ite"];

const JOIN = { add: " + ", mul: " * ", and: " && ", or: " || ", le: " <= ", eq: " === " };

/** Name of the operation of a node. */
export const operation = (node) => OPERATIONS[node[0]];

/** Numbers of the operands of a node. */
export const operands = (node) => (node[0] < 2 ? [] : node.slice(1));

/** Numbers of all nodes that `roots` depend on, themselves included, operands before their users. */
export function needed(nodes, roots) {
  const seen = new Set();
  const waiting = [...roots];
  while (waiting.length) {
    const number = waiting.pop();
    if (seen.has(number)) continue;
    seen.add(number);
    waiting.push(...operands(nodes[number]));
  }
  return [...seen].sort((a, b) => a - b);
}

/** Writes JavaScript for nodes: what is used once stands where it is used, what is used more often gets a name. */
export class Writer {
  /** `isTruth(cell)` tells whether a cell is a truth value; `s` is the name of the array of cells. */
  constructor(nodes, isTruth, roots) {
    this.nodes = nodes;
    this.isTruth = isTruth;
    this.named = new Set();
    this.uses = new Map();
    for (const number of needed(nodes, roots)) {
      for (const operand of operands(nodes[number])) this.uses.set(operand, (this.uses.get(operand) ?? 0) + 1);
    }
    for (const root of roots) this.uses.set(root, (this.uses.get(root) ?? 0) + 1);
  }

  /** Declarations that `root` still needs, and the expression for it. */
  write(root) {
    const lines = [];
    for (const number of needed(this.nodes, [root])) {
      const often = this.uses.get(number) > 1 && this.nodes[number][0] > 1;
      if (often && !this.named.has(number)) {
        lines.push(`const v${number} = ${this.#spell(number)};`);
        this.named.add(number);
      }
    }
    return { lines, expression: this.#use(root) };
  }

  #use(number) {
    return this.named.has(number) ? `v${number}` : this.#spell(number);
  }

  #spell(number) {
    const node = this.nodes[number];
    const kind = operation(node);
    if (kind === "const") return node[2] ? String(node[1] === 1) : `(${node[1]})`;
    if (kind === "cell") return this.isTruth(node[1]) ? `(s[${node[1]}] === 1)` : `s[${node[1]}]`;
    const [a, b, c] = operands(node).slice(0, 3).map((operand) => this.#use(operand));
    if (kind === "not") return `!${a}`;
    if (kind === "ite") return `(${a} ? ${b} : ${c})`;
    if (kind === "div") return `(${b} > 0 ? Math.floor(${a} / ${b}) : 0)`;
    if (kind === "mod") return `(${b} > 0 ? ((${a} % ${b}) + ${b}) % ${b} : 0)`;
    return `(${operands(node).map((operand) => this.#use(operand)).join(JOIN[kind])})`;
  }
}

/** Value of a node in a state, without compiling; truth values are booleans. */
export function evaluate(nodes, isTruth, root, state) {
  const values = new Map();
  for (const number of needed(nodes, [root])) {
    const node = nodes[number];
    const args = operands(node).map((operand) => values.get(operand));
    values.set(number, apply(operation(node), node, args, state, isTruth));
  }
  return values.get(root);
}

function apply(kind, node, args, state, isTruth) {
  switch (kind) {
    case "const": return node[2] ? node[1] === 1 : node[1];
    case "cell": return isTruth(node[1]) ? state[node[1]] === 1 : state[node[1]];
    case "add": return args.reduce((a, b) => a + b, 0);
    case "mul": return args.reduce((a, b) => a * b, 1);
    case "div": return args[1] > 0 ? Math.floor(args[0] / args[1]) : 0;
    case "mod": return args[1] > 0 ? ((args[0] % args[1]) + args[1]) % args[1] : 0;
    case "le": return args[0] <= args[1];
    case "eq": return args[0] === args[1];
    case "and": return args.every(Boolean);
    case "or": return args.some(Boolean);
    case "not": return !args[0];
    default: return args[0] ? args[1] : args[2];
  }
}
