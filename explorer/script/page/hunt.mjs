// "Shortest run to …": a breadth-first search in a worker, with progress and a limit.

import { byId, fill, h, toast } from "./dom.mjs";
import { ofModel, say } from "./language.mjs";

/** What is looked for, in words. */
export function goalInWords(model, words, goal) {
  if (goal.kind === "step") return say("to “{0}”", ofModel(model.instances[goal.instance].tells).text);
  if (goal.kind === "property") return say(goal.wanted ? "until {0} is seen" : "until {0} is violated", model.properties.find(({ holds }) => holds === goal.node).id);
  if (goal.kind === "cell") return say("to “{0}”", `${words.labels[goal.cell]} ${say(goal.sign)} ${words.value(goal.cell, goal.value)}`);
  return say("to a state where nothing can happen");
}

/** Searches of one page; one at a time. */
export class Hunter {
  constructor(page) {
    this.page = page;
    this.worker = null;
  }

  /** Look for a shortest run from the initial state, or from the one that is shown. */
  start(goal, { fromHere = false, limit = 2_000_000 } = {}) {
    this.stop();
    const { model, words, run } = this.page;
    const told = goalInWords(model, words, goal);
    const prefix = fromHere ? run.steps.slice(0, run.at) : [];
    const source = byId("program").textContent;
    const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(url);
    this.worker = worker;
    const box = byId("hunt-state");
    box.hidden = false;
    const searching = say("Searching for the shortest run {0} …", told);
    fill(box, h("p", {}, searching));
    worker.onmessage = ({ data }) => {
      if (data.error) {
        this.stop();
        fill(box, h("p", { class: "bad" }, say("The search failed: {0}", data.error)), this.#close());
        return;
      }
      const figures = say("{0} states, {1} transitions, depth {2}", data.states.toLocaleString("en"), data.transitions.toLocaleString("en"), data.depth);
      const speed = say("{0} transitions/s", Math.round(data.transitions / Math.max(data.seconds, 0.001)).toLocaleString("en"));
      if (!data.done) {
        fill(box, h("p", {}, searching),
          h("progress", { max: limit, value: data.states, "aria-label": say("states seen, of the limit") }),
          h("p", { class: "quiet" }, `${figures} · ${speed} `, h("button", { class: "small", onclick: () => this.cancel() }, say("Stop"))));
        return;
      }
      this.stop();
      if (data.found) {
        run.load([...prefix, ...data.found]);
        box.hidden = true;
        toast(say("Found: {0} steps {1}; {2}.", data.found.length, told, figures));
        return;
      }
      const why = data.complete
        ? say("There is no run {0}: all reachable states were seen.", told)
        : say("No run {0} within {1} states. There may be a longer one.", told, limit.toLocaleString("en"));
      fill(box, h("p", { class: data.complete ? "" : "warn" }, why), h("p", { class: "quiet" }, figures),
        data.complete ? null : h("button", { class: "small", onclick: () => this.start(goal, { fromHere, limit: limit * 4 }) }, say("Search four times as far")),
        this.#close());
    };
    worker.onerror = (event) => worker.onmessage({ data: { error: event.message } });
    worker.postMessage({ model: { ...model, properties: [], rules: {} }, goal, limit, from: fromHere ? [...run.state] : model.initial });
  }

  /** The user had enough. */
  cancel() {
    this.stop();
    byId("hunt-state").hidden = true;
    toast(say("The search was stopped."));
  }

  /** What is shown now is not what was searched. */
  leave() {
    this.stop();
    byId("hunt-state").hidden = true;
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }

  #close() {
    return h("button", { class: "small", onclick: () => { byId("hunt-state").hidden = true; } }, say("Close"));
  }
}

/** The dialog that asks what to look for. */
export function ask(page) {
  const { model, words, hunter } = page;
  const option = (value, text) => h("option", { value }, text);
  const goals = h("select", { id: "goal", "aria-label": say("What to look for") },
    h("optgroup", { label: say("A property turns") }, model.properties.filter(({ kind }) => kind === "always" || kind === "sometimes")
      .map(({ id, kind }, at) => option(`property ${model.properties.findIndex((item) => item.id === id)}`, say(kind === "always" ? "{0} is violated" : "{0} is seen", id), at))),
    h("optgroup", { label: say("Something happens") }, model.instances.map(({ tells }, number) => option(`step ${number}`, ofModel(tells).text))),
    h("optgroup", { label: say("A variable has a value") }, model.cells.map((_, cell) => option(`cell ${cell}`, words.labels[cell]))),
    h("optgroup", { label: say("The end") }, option("dead", say("nothing can happen any more"))));
  const value = h("select", { id: "goal-value", "aria-label": say("Value"), hidden: true });
  const sign = h("select", { id: "goal-sign", "aria-label": say("Comparison"), hidden: true }, ["is", "≥", "≤"].map((text) => option(text, say(text))));
  const limit = h("select", { id: "goal-limit", "aria-label": say("Limit") }, [100_000, 1_000_000, 2_000_000, 10_000_000].map((count) =>
    h("option", { value: count, selected: count === 2_000_000 }, say("at most {0} states", count.toLocaleString("en")))));
  const here = h("input", { type: "checkbox", id: "goal-here" });
  goals.addEventListener("change", () => {
    const [kind, number] = goals.value.split(" ");
    value.hidden = sign.hidden = kind !== "cell";
    if (kind !== "cell") return;
    const { low, high } = words.family(Number(number));
    fill(value, Array.from({ length: Math.min(high - low + 1, 200) }, (_, at) => option(low + at, words.value(Number(number), low + at))));
  });
  const begin = () => {
    const [kind, number] = goals.value.split(" ");
    const property = model.properties[Number(number)];
    const goal = {
      property: () => ({ kind, node: property.holds, wanted: property.kind === "sometimes" }),
      step: () => ({ kind, instance: Number(number) }),
      cell: () => ({ kind, cell: Number(number), sign: sign.value, value: Number(value.value) }),
      dead: () => ({ kind }),
    }[kind]();
    byId("ask").close();
    hunter.start(goal, { fromHere: here.checked, limit: Number(limit.value) });
  };
  fill(byId("ask-form"), h("h3", {}, say("Shortest run to …")), goals, h("div", { class: "pair" }, sign, value), limit,
    h("label", {}, here, say(" from the state that is shown, not from the start")),
    h("div", { class: "buttons" }, h("button", { class: "primary", id: "goal-go", onclick: begin }, say("Search")), h("button", { onclick: () => byId("ask").close() }, say("Cancel"))));
  byId("ask").showModal();
}
