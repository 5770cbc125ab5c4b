// Who owns what: clients against queues, and which members each party knows of.

import { h } from "./dom.mjs";
import { say } from "./language.mjs";

const SPOKEN = { owns: "{0} owns {1}", dropped: "{0} has dropped {1}", no: "{0} does not own {1}" };

/** The boards of a state, as tables. */
export function boards({ reader, model, run }) {
  const tables = [];
  if (reader.size("owns", 1)) tables.push(owners(reader, run));
  for (const family of model.families) {
    if (family.set && family.dims.length === 2) tables.push(members(reader, run, family));
  }
  return tables.map((table) => h("figure", { class: "board-card" }, table));
}

function owners(reader, run) {
  const { state, before } = run;
  const [clients, queues] = [reader.size("owns", 0), reader.size("owns", 1)];
  const owning = (q) => Array.from({ length: clients }, (_, c) => c).filter((c) => reader.value(state, "owns", c, q));
  return h("table", { class: "board" },
    h("caption", {}, say("Who owns what")),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, say("client")), numbers(queues).map((q) => h("th", { scope: "col" }, `q${q}`)), h("th", { scope: "col" }, ""))),
    h("tbody", {}, numbers(clients).map((c) => {
      const life = reader.word(state, "life", c);
      return h("tr", { class: life && life !== "UP" ? "gone" : "" },
        h("th", { scope: "row" }, `c${c}`),
        numbers(queues).map((q) => {
          const owns = reader.value(state, "owns", c, q);
          const dropped = reader.value(state, "dropped", c, q);
          const locked = reader.value(state, "locked", c, q) || reader.value(state, "holder", q) === c + 1;
          const changed = before && reader.value(before, "owns", c, q) !== owns;
          const word = owns ? "owns" : dropped ? "dropped" : "no";
          return h("td", { class: `${word}${owning(q).length > 1 && owns ? " twice" : ""}${changed ? " changed" : ""}` },
            h("span", { class: "dot", role: "img", "aria-label": say(SPOKEN[word], `c${c}`, `q${q}`) }),
            locked ? h("small", { title: say("has the lock") }, say("lock")) : null);
        }),
        h("td", { class: "life" }, life ? life.toLowerCase() : ""));
    })),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, say("owners")), numbers(queues).map((q) => {
      const count = owning(q).length;
      return h("td", { class: count === 1 ? "one" : count ? "many" : "none" }, String(count));
    }), h("td", {}))));
}

function members(reader, run, family) {
  const { state } = run;
  const [rows, columns] = family.dims;
  return h("table", { class: "board" },
    h("caption", {}, family.name === "members" ? say("Members, as brokers know them") : family.name === "view" ? say("Members, as clients saw them last") : family.name),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, rows.name.toLowerCase()), numbers(columns.size).map((item) => h("th", { scope: "col" }, columns.label + item)))),
    h("tbody", {}, numbers(rows.size).map((item) => h("tr", {}, h("th", { scope: "row" }, rows.label + item), numbers(columns.size).map((member) => {
      const has = reader.value(state, family.name, item, member);
      const changed = run.before && reader.value(run.before, family.name, item, member) !== has;
      return h("td", { class: `${has ? "owns" : "no"}${changed ? " changed" : ""}` }, h("span", { class: "dot", role: "img", "aria-label": has ? say("yes") : say("no") }));
    })))));
}

const numbers = (count) => Array.from({ length: count }, (_, item) => item);
