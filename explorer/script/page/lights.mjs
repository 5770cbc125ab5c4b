// Properties as lights: green while they hold along the run, red from the state that violates one.

import { h } from "./dom.mjs";
import { ENGLISH, say } from "./language.mjs";
import { ruled, told } from "./rules.mjs";

const MORE = "more of this machine";

/** What a property says about the run up to its place: `{ color, word, since }`. */
export function light(machine, property, run) {
  const holds = machine.predicate(property.holds);
  const states = run.states.slice(0, run.at + 1);
  const now = holds(run.state);
  if (property.kind === "always") {
    const since = states.findIndex((state) => !holds(state));
    if (since >= 0 && property.elsewhere && property.expected === "HOLDS") return { color: "warn", word: say("does not hold here"), since };
    return since < 0
      ? { color: "good", word: say("holds so far"), since: null }
      : { color: "bad", word: now ? say("was violated") : say("violated"), since };
  }
  if (property.kind === "sometimes") {
    const since = states.findIndex((state) => holds(state));
    return since < 0
      ? { color: "none", word: say("not seen yet"), since: null }
      : { color: "good", word: say("seen"), since };
  }
  if (property.kind === "settles") {
    return { color: now ? "good" : "warn", word: now ? say("settled here") : say("not settled here"), since: null };
  }
  const after = property.after === null ? null : machine.predicate(property.after);
  let owed = null;
  states.forEach((state, place) => {
    if (holds(state)) owed = null;
    else if (owed === null && (after ? after(state) : place === 0)) owed = place;
  });
  return owed === null
    ? { color: now ? "good" : "none", word: now ? say("reached") : say("nothing owed"), since: null }
    : { color: "warn", word: say("still owed"), since: owed };
}

/** The list of lights; `hunt(property)` looks for a shortest run that changes one. */
export function lights({ machine, model, run, open, hunt }) {
  const own = [];
  const others = [];
  for (const property of model.properties) {
    const found = light(machine, property, run);
    const wanted = { always: say("Find the shortest violation"), sometimes: say("Find the shortest witness") }[property.kind];
    const here = `${property.id}: ${found.word}`;
    const item = h("li", { class: `light ${found.color}`, "data-property": property.id },
      h("details", { open: open.has(property.id), ontoggle: (event) => (event.target.open ? open.add(property.id) : open.delete(property.id)) },
        h("summary", { "aria-label": here, "data-key": `light ${property.id}` },
          h("i", { class: "lamp", "aria-hidden": "true" }),
          h("span", { class: "name" }, property.id),
          h("span", { class: "word" }, found.word),
        ),
        h("p", {}, told(model, property.statement)),
        found.color === "bad" && property.lesson ? h("p", { class: "lesson" }, h("b", {}, say("Lesson. ")), h("span", { lang: ENGLISH }, ruled(model, property.lesson))) : null,
        found.since !== null
          ? h("p", { class: "quiet" }, h("button", { class: "link", "data-key": `since ${property.id}`, onclick: () => run.jump(found.since) }, say("since step {0}", found.since)))
          : null,
        property.assuming.length ? h("p", { class: "quiet" }, say("Assuming: "), h("span", { lang: ENGLISH }, property.assuming.join("; "))) : null,
        property.elsewhere ? h("p", { class: "quiet" }, say("Claimed of another configuration of this machine.")) : null,
        h("p", { class: "quiet" }, property.rules.map((rule) => [ruled(model, rule), " "])),
        wanted ? h("button", { class: "small", "data-key": `hunt ${property.id}`, onclick: () => hunt(property) }, wanted) : null,
      ),
    );
    (property.elsewhere && found.color !== "bad" && !open.has(property.id) ? others : own).push(item);
  }
  const more = others.length && h("details", { class: "more", open: open.has(MORE), ontoggle: (event) => (event.target.open ? open.add(MORE) : open.delete(MORE)) },
    h("summary", { "data-key": MORE }, say("{0} more, claimed of other configurations", others.length)), h("ul", { class: "lights" }, others));
  const none = model.properties.length ? null : h("p", { class: "quiet" }, say("No property of the model is about this run."));
  return [none, h("ul", { class: "lights" }, own), more || null];
}
