// Each queue as cells: where its messages are in every window, and the offsets that are remembered of it.

import { h } from "./dom.mjs";
import { say } from "./language.mjs";

const CELL = 58;
const STAGES = { ABSENT: "", WAITING: "waiting", RUNNING: "running", FAILED: "failed" };

/** Reads variables of a state by name and index; undefined where the configuration has none of that name. */
export class Reader {
  constructor(model) {
    this.model = model;
    this.places = new Map(model.cells.map(([family, ...index], cell) => [`${model.families[family].name} ${index}`, cell]));
    this.families = new Map(model.families.map((family) => [family.name, family]));
  }

  cell(name, ...index) {
    return this.places.get(`${name} ${index}`);
  }

  value(state, name, ...index) {
    const cell = this.cell(name, ...index);
    return cell === undefined ? undefined : state[cell];
  }

  word(state, name, ...index) {
    const value = this.value(state, name, ...index);
    return value === undefined ? undefined : (this.families.get(name).values?.[value] ?? value);
  }

  /** Number of elements of a domain that a variable has as its dimension `at`; 0 without the variable. */
  size(name, at) {
    return this.families.get(name)?.dims[at]?.size ?? 0;
  }
}

/** Whether the configuration has windows over queues at all. */
export const hasQueues = (reader) => reader.size("stage", 2) > 0;

/** Pictures of all queues, or nothing where the machine has no windows. */
export function queues({ reader, run }) {
  if (!hasQueues(reader)) return null;
  const count = reader.size("stage", 1);
  return h("div", { class: "queues" }, Array.from({ length: count }, (_, q) => queue(reader, run, q)));
}

function queue(reader, run, q) {
  const { state, before } = run;
  const clients = reader.size("stage", 0);
  const messages = reader.size("stage", 2);
  const end = reader.value(state, "log_end", q) ?? messages;
  const old = (name, ...index) => before !== null && reader.value(before, name, ...index) !== reader.value(state, name, ...index);
  const offsets = [
    { name: "stored", variable: "committed", value: reader.value(state, "committed", q), hint: say("the broker's committed offset") },
    { name: "on disk", variable: "on_disk", value: reader.value(state, "on_disk", q), hint: say("the offset as last written to disk") },
  ].filter(({ value }) => value !== undefined);
  const words = offsets.map(({ name, value }) => `${say(name)} ${value}`).join(", ");
  return h("figure", { class: "queue", role: "group", "aria-label": say("Queue {0}: {1}", `q${q}`, words) },
    h("figcaption", {}, h("b", {}, `q${q}`), h("span", {}, say(end === 1 ? "{0} message in the log" : "{0} messages in the log", end))),
    h("div", { class: "track", style: `--cells:${messages}` },
      row("broker", cells(messages, (m) => {
        const handled = reader.value(state, "handled", q, m);
        const delivered = reader.value(state, "delivered", q, m);
        const word = m >= end ? "free" : handled ? "handled" : delivered ? "delivered" : "stored";
        return { word, text: m >= end ? "" : `m${m}`, changed: old("handled", q, m) || old("delivered", q, m) };
      }), offsets.map((offset) => ({ ...offset, changed: old(offset.variable, q) })), messages),
      Array.from({ length: clients }, (_, c) => windowOf(reader, run, q, c, messages, old)),
    ),
  );
}

function windowOf(reader, run, q, c, messages, old) {
  const { state } = run;
  const owns = reader.value(state, "owns", c, q);
  const dropped = reader.value(state, "dropped", c, q);
  const alive = reader.word(state, "life", c);
  const stages = cells(messages, (m) => {
    const orphan = reader.word(state, "orphan", c, q, m);
    const stage = STAGES[reader.word(state, "stage", c, q, m)] ?? "";
    const stray = orphan && orphan !== "NONE" ? say("{0} in a dropped window", say(orphan.toLowerCase())) : "";
    return {
      word: stage || (stray ? "orphan" : "absent"), text: stage || stray ? `m${m}` : "",
      title: stray || say(stage), changed: old("stage", c, q, m) || old("orphan", c, q, m),
    };
  });
  const next = reader.value(state, "next_offset", c, q);
  const held = Array.from({ length: messages }, (_, m) => m).filter((m) => reader.value(state, "stage", c, q, m) > 0);
  const marks = owns ? [
    { name: "pull", value: next, hint: say("where the next pull starts"), changed: old("next_offset", c, q) },
    { name: "low-water", value: held.length ? held[0] : next, hint: say("smallest offset that is not finished"), changed: false },
  ] : [];
  const memory = reader.value(state, "memory", c, q);
  if (memory !== undefined && memory >= 0) marks.push({ name: "memory", value: memory, hint: say("in-memory offset, sent with the next commit"), changed: old("memory", c, q) });
  const word = owns ? "owns" : dropped ? "dropped" : "";
  return row(`c${c}`, stages, marks, messages, word, alive && alive !== "UP" ? alive.toLowerCase() : "");
}

const cells = (count, make) => Array.from({ length: count }, (_, m) => make(m));

function row(name, list, marks, messages, word = "", life = "") {
  const spoken = list.map(({ text, word: stage }) => (text ? `${text} ${say(stage)}` : "")).filter(Boolean).join(", ");
  const flags = marks.map((mark) => `${say(mark.name)} ${mark.value}`).join(", ");
  return h("div", { class: `lane-row ${word || (name === "broker" ? "log" : spoken ? "stray" : "idle")}`, role: "img", "aria-label": `${say(name)} ${say(word)} ${life}: ${spoken || say("nothing")}; ${flags}` },
    h("div", { class: "who" }, h("b", {}, say(name)), word ? h("small", {}, say(word)) : null, life ? h("small", { class: "gone" }, life) : null),
    h("div", { class: "cells" },
      h("div", { class: "boxes" }, list.map((cell) =>
        h("span", { class: `cell ${cell.word}${cell.changed ? " changed" : ""}`, title: cell.title || say(cell.word) }, cell.text,
          cell.text && cell.word !== "stored" ? h("small", {}, say(cell.word)) : null))),
      h("div", { class: "flags" }, Array.from({ length: messages + 1 }, (_, m) => {
        const here = marks.filter((mark) => mark.value === m);
        return here.length
          ? h("span", { class: "flag-stack", style: `left:calc(${m} * var(--cell))` }, here.map((mark) =>
              h("span", { class: `flag ${mark.name.replace(" ", "-")}${mark.changed ? " changed" : ""}`, title: `${mark.hint}: ${mark.value}` }, say(mark.name))))
          : null;
      })),
    ));
}
