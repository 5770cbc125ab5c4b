// All variables of a state, with what each means; what the last step changed stands out.

import { h } from "./dom.mjs";
import { told } from "./rules.mjs";

/** One entry for each family of variables. */
export function variables({ model, words, run }) {
  const byFamily = new Map();
  model.cells.forEach(([family], cell) => byFamily.set(family, [...(byFamily.get(family) ?? []), cell]));
  return h("dl", { class: "variables" }, [...byFamily].map(([number, cells]) => {
    const family = model.families[number];
    const changed = run.before !== null && cells.some((cell) => run.before[cell] !== run.state[cell]);
    return h("div", { class: changed ? "changed" : "" },
      h("dt", {}, h("code", {}, family.name), " ", family.doc ? told(model, family.doc) : null),
      h("dd", {}, cells.map((cell) => {
        const different = run.before !== null && run.before[cell] !== run.state[cell];
        const index = words.labels[cell].slice(family.name.length).replace(/^\[|\]$/g, "");
        const low = run.state[cell] === family.low;
        return h("span", { class: `value${different ? " changed" : ""}${low ? " low" : ""}` },
          index ? h("i", {}, index) : null, words.value(cell, run.state[cell]));
      })));
  }));
}
