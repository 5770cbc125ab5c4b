// What can happen now, grouped by who acts, and why the rest cannot.

import { h } from "./dom.mjs";
import { ENGLISH, ofModel, say } from "./language.mjs";
import { ruled, told } from "./rules.mjs";


/** Who takes a step: the first element it names. */
export function actor(model, instance) {
  const { parameters } = model.actions[instance.action];
  const [name] = Object.keys(parameters);
  const kind = parameters[name];
  const titles = { Consumer: say("Client"), Broker: say("Broker"), Queue: say("Queue"), Copy: say("Retry copy") };
  if (!name || !(kind in titles)) return name && instance.drawn[0] !== "·" ? `${kind} ${instance.drawn[0]}` : say("Broker, time, operator");
  const label = instance.label.slice(instance.label.indexOf("(") + 1).split(/[,)]/)[0];
  return `${titles[kind]} ${label}`;
}

/** The groups of actions; `filter` keeps those whose sentence has it, `find(instance)` looks for a way there. */
export function actions({ machine, model, words, run, filter, openWhy, find }) {
  const enabled = new Set(machine.enabled(run.state));
  const groups = new Map();
  model.instances.forEach((instance, number) => {
    if (filter && !`${instance.tells} ${ofModel(instance.tells).text} ${instance.label}`.toLowerCase().includes(filter)) return;
    const name = actor(model, instance);
    const group = groups.get(name) ?? { can: [], cannot: [] };
    (enabled.has(number) ? group.can : group.cannot).push(number);
    groups.set(name, group);
  });
  let key = 0;
  const sections = [...groups].map(([name, { can, cannot }]) =>
    h("section", { class: "group", "aria-label": name },
      h("h3", {}, name, h("small", {}, can.length ? say("{0} possible", can.length) : say("nothing possible"))),
      h("div", { class: "can" }, can.map((number) => {
        key += 1;
        return choice(model, number, run, key);
      })),
      cannot.length
        ? h("details", { class: "cannot", open: openWhy.has(name) || Boolean(filter), ontoggle: (event) => {
            const box = event.target;
            if (box.open) {
              openWhy.add(name);
              if (!box.querySelector("ul")) box.append(reasons({ machine, model, words, run, find }, cannot));
            } else openWhy.delete(name);
          } }, h("summary", { "data-key": `why ${name}` }, say("{0} not possible now: why?", cannot.length)))
        : null,
    ),
  );
  if (!enabled.size) sections.unshift(h("p", { class: "end" }, say("Nothing can happen any more: the run ends here.")));
  return sections;
}

function choice(model, number, run, key) {
  const instance = model.instances[number];
  const action = model.actions[instance.action];
  const shortcut = key < 10 ? String(key) : null;
  return h("button", {
    class: instance.drawn[4] ? "action fault" : "action", "data-label": instance.label, "data-key": instance.label, "aria-keyshortcuts": shortcut,
    title: action.doc || null, onclick: () => run.take(number),
  },
    told(model, instance.tells),
    shortcut ? h("kbd", { "aria-hidden": "true" }, shortcut) : null,
  );
}

function reasons({ machine, model, words, run, find }, numbers) {
  return h("ul", { class: "reasons" }, numbers.map((number) => {
    const instance = model.instances[number];
    const failing = machine.failing(run.state, number);
    return h("li", { "data-label": instance.label },
      h("p", { class: "what" }, told(model, instance.tells), " ",
        h("button", { class: "small", "data-key": `find ${instance.label}`, "aria-label": say("Find the shortest run to: {0}", ofModel(instance.tells).text), onclick: () => find(number) }, say("find a way"))),
      failing.map((part) => reason(machine, words, run, part)),
      model.actions[instance.action].doc ? h("p", { class: "quiet", lang: ENGLISH }, ruled(model, model.actions[instance.action].doc)) : null,
    );
  }));
}

function reason(machine, words, run, part) {
  const text = words.condition(part, (node) => machine.value(node, run.state));
  const cells = words.cellsOf(part);
  const now = cells.slice(0, 6).map((cell) => `${words.labels[cell]} = ${words.value(cell, run.state[cell])}`);
  return h("p", { class: "fails" },
    say("needs "), text === null ? say("a condition on what follows") : h("code", {}, text),
    h("small", {}, say("now {0}", `${now.join(", ")}${cells.length > 6 ? ", …" : ""}`)));
}
