// A small state graph: what can be reached, collapsed to the variables that the user picks.

import { fill, h } from "./dom.mjs";
import { say } from "./language.mjs";

const MOST_STATES = 4000;
const MOST_NODES = 300;
const COLUMN = 86;
const LINE = 30;

/** States reached first, merged where they agree on the chosen families: nodes with depth, edges, and a path each. */
export function reached(machine, chosen) {
  const { model } = machine;
  const kept = model.cells.flatMap(([family], cell) => (chosen.has(model.families[family].name) ? [cell] : []));
  const keyOf = (state) => (chosen.size ? kept.map((cell) => state[cell]) : [...state]).join(",");
  const nodes = new Map();
  const edges = new Map();
  const seen = new Map();
  const first = machine.initial;
  const paths = [[]];
  const states = [first];
  seen.set(first.join(","), 0);
  nodes.set(keyOf(first), { key: keyOf(first), depth: 0, path: [], states: 1, state: first });
  let complete = true;
  for (let at = 0; at < states.length; at += 1) {
    const from = nodes.get(keyOf(states[at]));
    for (let number = 0; number < model.instances.length; number += 1) {
      const next = machine.step(states[at], number);
      if (!next) continue;
      const key = keyOf(next);
      let node = nodes.get(key);
      const name = next.join(",");
      const isNew = !seen.has(name);
      if (isNew && (states.length >= MOST_STATES || (!node && nodes.size >= MOST_NODES))) {
        complete = false;
        continue;
      }
      if (!node) {
        node = { key, depth: from.depth + 1, path: [...paths[at], number], states: 0, state: next };
        nodes.set(key, node);
      }
      if (isNew) {
        seen.set(name, states.length);
        states.push(next);
        paths.push([...paths[at], number]);
        node.states += 1;
      }
      const edge = `${from.key}|${key}`;
      if (from !== node && !edges.has(edge)) edges.set(edge, { from, to: node, number });
    }
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()], states: states.length, complete, keyOf };
}

/** Nodes at their places: a column for each depth, in each column near what leads there. */
function place({ nodes, edges }) {
  const columns = [];
  for (const node of nodes) (columns[node.depth] ??= []).push(node);
  const packed = columns.filter(Boolean);
  const incoming = new Map();
  for (const { from, to } of edges) incoming.set(to, [...(incoming.get(to) ?? []), from]);
  packed.forEach((column, at) => {
    for (const node of column) {
      const before = (incoming.get(node) ?? []).filter((other) => other.y !== undefined);
      node.wish = before.length ? before.reduce((sum, other) => sum + other.y, 0) / before.length : 0;
    }
    column.sort((a, b) => a.wish - b.wish);
    column.forEach((node, line) => {
      node.x = 30 + at * COLUMN;
      node.y = (line - (column.length - 1) / 2) * LINE;
    });
  });
  const tallest = Math.max(...packed.map((column) => column.length));
  for (const node of nodes) node.y += (tallest * LINE) / 2 + 10;
  return { width: packed.length * COLUMN + 20, height: Math.max(120, tallest * LINE + 20) };
}

/** Draws the graph, with the boxes that say what it is collapsed to. */
export function graph({ machine, model, words, run, chosen, redraw }, box) {
  const found = reached(machine, chosen);
  const { width, height } = place(found);
  const current = found.keyOf(run.state);
  const passed = new Set(run.states.slice(0, run.at + 1).map(found.keyOf));
  const shown = (node) => {
    const list = [...chosen].length ? model.cells.flatMap(([family], cell) => {
      const { name, low } = model.families[family];
      return chosen.has(name) && node.state[cell] !== low ? [`${words.labels[cell]} = ${words.value(cell, node.state[cell])}`] : [];
    }) : words.changes(machine.initial, node.state).map(({ label, now }) => `${label} = ${now}`);
    return list.join("\n") || say("everything at its lowest value");
  };
  const svg = h("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": say("State graph with {0} nodes", found.nodes.length) },
    found.edges.map(({ from, to }) => h("path", {
      class: passed.has(from.key) && passed.has(to.key) ? "edge passed" : "edge",
      d: from.depth < to.depth ? `M${from.x} ${from.y} C${from.x + 40} ${from.y} ${to.x - 40} ${to.y} ${to.x} ${to.y}`
        : `M${from.x} ${from.y} C${from.x + 30} ${from.y - 34} ${to.x - 30} ${to.y - 34} ${to.x} ${to.y}`,
    })),
    found.nodes.map((node) => {
      const go = () => run.load(node.path);
      return h("g", { class: `node${node.key === current ? " current" : ""}${passed.has(node.key) ? " passed" : ""}`, tabindex: 0, role: "button", "data-key": `node ${node.key}`,
        "aria-label": say("State after {0} steps: {1}", node.path.length, shown(node).replaceAll("\n", ", ")),
        onclick: go, onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        go();
      } },
      h("title", {}, `${shown(node)}\n${say("(states: {0}; shortest run: {1} steps)", node.states, node.path.length)}`),
      h("circle", { cx: node.x, cy: node.y, r: Math.min(12, 6 + Math.log2(node.states + 1)) }),
      node.states > 1 ? h("text", { x: node.x, y: node.y + 3.5 }, String(node.states)) : null);
    }));
  const here = found.nodes.find(({ key }) => key === current);
  const told = say(found.complete ? "{0} nodes from {1} states." : "{0} nodes from {1} states, the first ones; there are more.", found.nodes.length, found.states.toLocaleString("en"));
  fill(box,
    h("p", { class: "quiet" }, say("Collapsed to: "), model.families.map(({ name }) => h("label", { class: "pick" },
      h("input", { type: "checkbox", "data-key": `pick ${name}`, checked: chosen.has(name), onchange: (event) => {
        if (event.target.checked) chosen.add(name);
        else chosen.delete(name);
        redraw();
      } }), name))),
    h("p", { class: "quiet", id: "graph-told" }, told, chosen.size ? "" : say(" Nothing is collapsed.")),
    h("p", { class: "quiet", id: "graph-here" }, here ? [say("Here: "), h("b", {}, shown(here).replaceAll("\n", ", "))] : say("The state of the run is farther away than what is drawn.")),
    h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": say("State graph") }, svg));
}

/** What the graph is collapsed to at first. */
export function firstChosen(model) {
  const names = new Set(model.families.map(({ name }) => name));
  return new Set(["owns", "life"].filter((name) => names.has(name)));
}
