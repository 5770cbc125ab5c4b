// Properties as lights: green while they hold along the run, red from the state that violates one.

import { h } from "./dom.mjs";
import { ruled } from "./rules.mjs";

const MORE = "more of this machine";

/** What a property says about the run up to its place: `{ color, word, since }`. */
export function light(machine, property, run) {
  const holds = machine.predicate(property.holds);
  const states = run.states.slice(0, run.at + 1);
  const now = holds(run.state);
  if (property.kind === "always") {
    const since = states.findIndex((state) => !holds(state));
    if (since >= 0 && property.elsewhere && property.expected === "HOLDS") return { color: "warn", word: "does not hold here", since };
    return since < 0
      ? { color: "good", word: "holds so far", since: null }
      : { color: "bad", word: now ? "was violated" : "violated", since };
  }
  if (property.kind === "sometimes") {
    const since = states.findIndex((state) => holds(state));
    return since < 0
      ? { color: "none", word: "not seen yet", since: null }
      : { color: "good", word: "seen", since };
  }
  if (property.kind === "settles") {
    return { color: now ? "good" : "warn", word: now ? "settled here" : "not settled here", since: null };
  }
  const after = property.after === null ? null : machine.predicate(property.after);
  let owed = null;
  states.forEach((state, place) => {
    if (holds(state)) owed = null;
    else if (owed === null && (after ? after(state) : place === 0)) owed = place;
  });
  return owed === null
    ? { color: now ? "good" : "none", word: now ? "reached" : "nothing owed", since: null }
    : { color: "warn", word: "still owed", since: owed };
}

/** The list of lights; `hunt(property)` looks for a shortest run that changes one. */
export function lights({ machine, model, run, open, hunt }) {
  const own = [];
  const others = [];
  for (const property of model.properties) {
    const found = light(machine, property, run);
    const wanted = { always: "Find the shortest violation", sometimes: "Find the shortest witness" }[property.kind];
    const here = `${property.id}: ${found.word}`;
    const item = h("li", { class: `light ${found.color}`, "data-property": property.id },
      h("details", { open: open.has(property.id), ontoggle: (event) => (event.target.open ? open.add(property.id) : open.delete(property.id)) },
        h("summary", { "aria-label": here, "data-key": `light ${property.id}` },
          h("i", { class: "lamp", "aria-hidden": "true" }),
          h("span", { class: "name" }, property.id),
          h("span", { class: "word" }, found.word),
        ),
        h("p", {}, property.statement),
        found.color === "bad" && property.lesson ? h("p", { class: "lesson" }, h("b", {}, "Lesson. "), ruled(model, property.lesson)) : null,
        found.since !== null
          ? h("p", { class: "quiet" }, h("button", { class: "link", "data-key": `since ${property.id}`, onclick: () => run.jump(found.since) }, `since step ${found.since}`))
          : null,
        property.assuming.length ? h("p", { class: "quiet" }, "Assuming: ", property.assuming.join("; ")) : null,
        property.elsewhere ? h("p", { class: "quiet" }, "Claimed of another configuration of this machine.") : null,
        h("p", { class: "quiet" }, property.rules.map((rule) => [ruled(model, rule), " "])),
        wanted ? h("button", { class: "small", "data-key": `hunt ${property.id}`, onclick: () => hunt(property) }, wanted) : null,
      ),
    );
    (property.elsewhere && found.color !== "bad" && !open.has(property.id) ? others : own).push(item);
  }
  const more = others.length && h("details", { class: "more", open: open.has(MORE), ontoggle: (event) => (event.target.open ? open.add(MORE) : open.delete(MORE)) },
    h("summary", { "data-key": MORE }, `${others.length} more, claimed of other configurations`), h("ul", { class: "lights" }, others));
  const none = model.properties.length ? null : h("p", { class: "quiet" }, "No property of the model is about this run.");
  return [none, h("ul", { class: "lights" }, own), more || null];
}
