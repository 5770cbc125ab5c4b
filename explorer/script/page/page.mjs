// One open configuration: its panels, drawn anew whenever the run changes.

import { Machine } from "../kernel/machine.mjs";
import { actions } from "./actions.mjs";
import { boards } from "./board.mjs";
import { announce, byId, fill, h, refocus, toast } from "./dom.mjs";
import { firstChosen, graph } from "./graph.mjs";
import { ask, Hunter } from "./hunt.mjs";
import { ENGLISH, inLink, ofModel, say } from "./language.mjs";
import { light, lights } from "./lights.mjs";
import { queues, Reader } from "./queues.mjs";
import { ruled, told } from "./rules.mjs";
import { Run } from "./run.mjs";
import { sequence } from "./sequence.mjs";
import { asStory, asTest, changed, command, explore, fragment, placeOf, sameConstants, settings, stepsOf } from "./share.mjs";
import { variables } from "./variables.mjs";
import { Words } from "./words.mjs";

/** A configuration on the page, with its run. */
export class Page {
  constructor(model, entry, entries) {
    this.model = model;
    this.entry = entry;
    this.entries = entries;
    this.machine = new Machine(model);
    this.words = new Words(model);
    this.reader = new Reader(model);
    this.run = new Run(this.machine);
    this.hunter = new Hunter(this);
    this.openLights = new Set();
    this.openWhy = new Set();
    this.chosen = firstChosen(model);
    this.filter = "";
    this.view = "run";
    this.walking = null;
    this.run.onChange((how) => this.changed(how));
  }

  /** Draw everything for the first time. */
  show() {
    const { model } = this;
    byId("name").textContent = this.entry.title;
    fill(byId("about"), this.entry.doc || model.doc);
    document.title = say("{0} · rocketproof explorer", this.entry.title);
    fill(byId("constants"), this.#constants());
    this.draw();
  }

  /** The run is another one, or is looked at elsewhere. */
  changed(how) {
    const { run, model } = this;
    const last = run.at ? ofModel(model.instances[run.steps[run.at - 1]].tells).text : say("the start");
    announce(`${how === "step" ? "" : say("Step {0}: ", run.at)}${last}. ${this.#lightsInWords()}`);
    this.draw();
    this.link();
  }

  /** Something else is shown from now on: what this configuration still does ends, and so do its searches and dialogs. */
  leave() {
    this.hunter.leave();
    if (this.walking) this.walk();
    clearTimeout(this.linking);
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  }

  /** The address of the page says what it shows, a moment later. */
  link() {
    clearTimeout(this.linking);
    this.linking = setTimeout(() => history.replaceState(null, "", `#${fragment(this.entry.id, this.run, this.model)}`), 120);
  }

  draw() {
    const { model, machine, words, run, reader, openWhy, openLights } = this;
    const key = document.activeElement?.dataset.key;
    fill(byId("actions"), actions({ machine, model, words, run, filter: this.filter, openWhy, find: (number) => this.hunter.start({ kind: "step", instance: number }, { fromHere: true }) }));
    fill(byId("lights"), lights({ machine, model, run, open: openLights, hunt: (property) => this.huntProperty(property) }));
    fill(byId("variables"), variables({ model, words, run }));
    fill(byId("pictures"), queues({ reader, run }), h("div", { class: "boards" }, boards({ reader, model, run })), this.#recorded());
    fill(byId("happened"), this.#happened());
    this.#sequence();
    this.#timeline();
    if (this.view === "graph") this.drawGraph();
    refocus(key);
    const bad = model.properties.filter((property) => light(machine, property, run).color === "bad").length;
    byId("summary").textContent = bad ? say("{0} violated", bad) : "";
    byId("summary").hidden = !bad;
  }

  drawGraph() {
    const { machine, model, words, run, chosen } = this;
    const key = document.activeElement?.dataset.key;
    graph({ machine, model, words, run, chosen, redraw: () => this.drawGraph() }, byId("graph"));
    refocus(key);
  }

  /** Look for the run that turns the light of a property. */
  huntProperty(property) {
    this.openLights.add(property.id);
    this.hunter.start({ kind: "property", node: property.holds, wanted: property.kind === "sometimes" });
  }

  /** Random steps until there are `steps` more, or nothing can happen; a second call stops it. */
  walk(steps = 20) {
    if (this.walking) {
      clearInterval(this.walking);
      this.walking = null;
    } else {
      let left = steps;
      this.walking = setInterval(() => {
        left -= 1;
        if (!this.run.random() || left <= 0) this.walk();
      }, 160);
    }
    byId("walk").setAttribute("aria-pressed", String(this.walking !== null));
  }

  /** Restore the run of a fragment. */
  restore(parameters) {
    const { model, run } = this;
    const asked = parameters.get("set") ?? "";
    if (parameters.has("set") && !sameConstants(asked, changed(model))) {
      if (document.body.dataset.served && parameters.get("from") !== "server") {
        const sets = settings(asked).map((text) => `set=${encodeURIComponent(text)}`);
        parameters.set("from", "server");
        location.href = `/?subject=${encodeURIComponent(model.machine)}&${sets.join("&")}#${parameters}`;
        return false;
      }
      toast(say("This link is about other constants ({0}). Open it with: {1}", asked, explore(model, settings(asked))));
      return false;
    }
    const { steps, unknown } = stepsOf(parameters.get("run") ?? "", model);
    const loop = parameters.get("loop");
    const broken = run.load(steps, placeOf(parameters.get("at")) ?? steps.length, placeOf(loop));
    if (unknown !== null) toast(say("There is no step {0} in this configuration; the link is shown up to there.", unknown));
    else if (broken >= 0) toast(say("Step {0} of the link cannot happen here; the run is shown up to it.", broken + 1));
    else if (loop !== null && run.loop === null) toast(say("The run of the link does not come back to step {0}.", loop));
    return true;
  }

  /** What the buttons and keys do. */
  commands() {
    const { run, machine, model, words } = this;
    return {
      undo: () => run.jump(run.at - 1),
      redo: () => run.jump(run.at + 1),
      first: () => run.jump(0),
      last: () => run.jump(run.steps.length),
      reset: () => run.load([]),
      random: () => run.random() || toast(say("Nothing can happen any more.")),
      walk: () => this.walk(),
      hunt: () => ask(this),
      link: () => copy(`${location.href.split("#")[0]}#${fragment(this.entry.id, run, model)}`, say("The link")),
      test: () => copy(asTest(machine, model, run, words), say("A regression test")),
      story: () => copy(asStory(model, run, words), say("The story")),
      command: () => copy(command(model), say("The command")),
    };
  }

  #happened() {
    const { model, run, words } = this;
    if (!run.at) return [h("p", { class: "tells" }, say("The start.")), h("p", { class: "quiet" }, say("Choose what happens first, take a random walk, or ask for the shortest run to something."))];
    const instance = model.instances[run.steps[run.at - 1]];
    const action = model.actions[instance.action];
    const changes = words.changes(run.before, run.state);
    return [
      h("p", { class: instance.drawn[4] ? "tells fault" : "tells" }, h("span", { class: "count" }, String(run.at)), told(model, instance.tells)),
      h("ul", { class: "changes" }, changes.length
        ? changes.map(({ cell, label, old, now }) => h("li", { title: ofModel(words.family(cell).doc).text || null }, h("code", {}, label), ` ${old} → `, h("b", {}, now)))
        : h("li", {}, say("nothing that the model follows changes"))),
      action.doc ? h("p", { class: "quiet", lang: ENGLISH }, ruled(model, action.doc)) : null,
      run.loop !== null && run.at === run.steps.length ? h("p", { class: "warn" }, say("From step {0} on this repeats for ever.", run.loop)) : null,
    ];
  }

  /** What was recorded, beside the pictures of the model; events that the run goes along with lead to their step. */
  #recorded() {
    const { entry: { recorded, follows }, run } = this;
    if (!recorded.length) return null;
    const along = recorded.filter(([, step]) => step !== null);
    const here = along.filter(([, step]) => step <= run.at).length - 1;
    const beyond = follows ? recorded.findIndex(([, step]) => step === null) : -1;
    const item = ([text, step], number) => step === null
      ? h("li", { class: number === beyond ? "beyond" : null }, text, number === beyond ? h("b", {}, say(" The model has no step for this.")) : null)
      : h("li", {}, h("button", { class: "event", "data-key": `event ${number}`, "aria-current": number === here ? "step" : null, onclick: () => run.jump(step) }, text, h("small", {}, say(" step {0}", step))));
    const title = follows ? say("Recorded, and the run that goes along: {0} of {1}", along.length, recorded.length) : say("Recorded");
    return h("figure", { class: "board-card recorded" }, h("figcaption", { class: "quiet" }, title), h("ol", {}, recorded.map(item)));
  }

  #sequence() {
    const { model, run, machine } = this;
    const marks = new Map();
    for (const property of model.properties) {
      if (property.kind !== "always" || property.elsewhere) continue;
      const holds = machine.predicate(property.holds);
      const since = run.states.findIndex((state) => !holds(state));
      if (since > 0) marks.set(since, "bad");
    }
    const box = byId("sequence");
    fill(box, sequence({ model, run, marks, width: Math.max(300, box.clientWidth - 4) }));
    const here = box.querySelector(".step.here");
    if (here) box.scrollTop = here.getBBox().y - box.clientHeight + 90;
    else box.scrollTop = 0;
  }

  #timeline() {
    const { run } = this;
    const slider = byId("at");
    slider.max = run.steps.length;
    slider.value = run.at;
    slider.disabled = !run.steps.length;
    slider.setAttribute("aria-valuetext", say("step {0} of {1}", run.at, run.steps.length));
    byId("count").textContent = `${run.at} / ${run.steps.length}`;
    for (const id of ["undo", "first"]) byId(id).disabled = run.at === 0;
    for (const id of ["redo", "last"]) byId(id).disabled = run.at === run.steps.length;
    byId("reset").disabled = !run.steps.length;
  }

  #lightsInWords() {
    const red = this.model.properties.filter((property) => light(this.machine, property, this.run).color === "bad");
    return red.length ? say("Violated: {0}.", red.map(({ id }) => id).join(", ")) : "";
  }

  #constants() {
    const all = Object.entries(this.model.constants);
    const own = all.filter(([, { value, usual }]) => value !== usual);
    const row = ([name, { value, usual, doc, allowed }]) => h("tr", { class: value === usual ? "" : "own" },
      h("th", { scope: "row" }, h("code", {}, name)),
      h("td", {}, h("input", { "data-constant": name, value, size: 6, "aria-label": `${name}: ${allowed}` })),
      h("td", {}, h("span", { lang: ENGLISH }, ruled(this.model, doc)), h("small", {}, say(" {0}; usually {1}", allowed, usual))));
    const chosen = () => [...byId("constants").querySelectorAll("input")].filter((input) => input.value !== String(this.model.constants[input.dataset.constant].usual))
      .map((input) => `${input.dataset.constant}=${input.value.trim()}`);
    const served = document.body.dataset.served;
    const here = this.entries.filter((entry) => entry.machine === this.model.machine);
    return [
      h("p", { class: "quiet" }, say("{0} of {1} constants differ from their usual values. ", own.length, all.length), served
        ? say("Change them and apply: the server makes the page anew.")
        : [say(here.length > 1 ? "This page is a file that holds the configurations below, made beforehand; it cannot make others." : "This page is a file that holds this one configuration, made beforehand; it cannot make others."),
          say(" Change constants here and copy the command that makes the page for them; rocketproof explore --serve changes them at once.")]),
      here.length > 1 ? h("ul", { class: "configurations", "aria-label": say("Configurations of this page") }, here.map((entry) => h("li", {},
        h("a", { href: `#${new URLSearchParams({ ...inLink(), open: entry.id })}`, "aria-current": entry.id === this.entry.id ? "page" : null }, entry.title)))) : null,
      h("div", { class: "buttons" }, h("button", { class: "primary", id: "apply", onclick: () => {
        const sets = chosen();
        if (served) location.href = `/?subject=${encodeURIComponent(this.model.machine)}&${sets.map((text) => `set=${encodeURIComponent(text)}`).join("&")}#${new URLSearchParams(inLink())}`;
        else copy(explore(this.model, sets), say("The command"));
      } }, served ? say("Apply") : say("Copy the command"))),
      h("table", {}, h("tbody", {}, own.map(row), all.filter((item) => !own.includes(item)).map(row))),
    ];
  }
}

/** Copy a text, and show it where copying is not allowed. */
function copy(text, what) {
  byId("copied-text").value = text;
  byId("copied-title").textContent = say("{0} was copied", what);
  const show = () => byId("copied").showModal();
  if (!navigator.clipboard) {
    byId("copied-title").textContent = what;
    show();
    return;
  }
  navigator.clipboard.writeText(text).then(show, () => {
    byId("copied-title").textContent = what;
    show();
  });
}
