// Ids of rules in a text become links to what the rule says.

import { byId, fill, h } from "./dom.mjs";
import { ENGLISH, ofModel, say } from "./language.mjs";

const RULE = /\b([A-Z]{1,2}-?\d+)(\.\d+)?\b/g;

/** A text with its rules as buttons, and names in backquotes as code. */
export function ruled(model, text) {
  return text.split(/`{1,2}/).map((part, at) => (at % 2 ? h("code", {}, part) : linked(model, part)));
}

/** What the model says, with its rules as buttons, and marked with its language where that is not the page's. */
export function told(model, said) {
  const { text, lang } = ofModel(said);
  return h("span", { lang }, ruled(model, text));
}

function linked(model, text) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(RULE)) {
    const [whole, rule] = found;
    if (!(rule in model.rules)) continue;
    parts.push(text.slice(end, found.index), button(model, rule, whole));
    end = found.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

function button(model, rule, text) {
  return h("button", { class: "rule", "aria-label": say("Rule {0}", rule), onclick: () => show(model, rule) }, text);
}

function show(model, rule) {
  const [text, source] = model.rules[rule];
  const box = byId("rule");
  fill(byId("rule-text"), h("h3", {}, rule), h("p", { lang: ENGLISH }, ruled(model, text)), h("p", { class: "quiet" }, say("Java source: "), ruled(model, source)));
  box.showModal();
}
