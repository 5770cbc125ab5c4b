// Where the script begins: in a page it opens what the page is about; in a worker it answers searches.

import { byId, fill, h } from "./page/dom.mjs";
import { Page } from "./page/page.mjs";
import { serveSearches } from "./page/worker.mjs";

const KEYS = { ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last", u: "undo", r: "random", w: "walk", s: "hunt", l: "link", Backspace: "undo" };
const VERDICTS = { HOLDS: "good", VIOLATED: "bad", UNKNOWN: "warn" };

/** What a page is about: entries, each a configuration with perhaps a run; configurations are packed. */
class Site {
  constructor() {
    const read = (id) => JSON.parse(byId(id).textContent);
    this.entries = read("entries");
    this.packed = read("models");
    this.models = new Map();
    this.page = null;
  }

  /** Begin: what the link says, or what there is. */
  async start() {
    this.#listen();
    await this.#follow();
    document.body.dataset.ready = "yes";
  }

  async open(entry, parameters = new URLSearchParams()) {
    this.page?.hunter.stop();
    document.body.dataset.view = "one";
    this.page = new Page(await this.#model(entry.model), entry, this.entries);
    window.explorer = this.page;
    this.page.show();
    const given = parameters.get("run") !== null || parameters.get("set") !== null;
    if (given) this.page.restore(parameters);
    else if (entry.run) this.page.restore(new URLSearchParams({ run: entry.run, ...(entry.loop === null ? {} : { loop: entry.loop }) }));
    else if (entry.hunt) this.page.huntProperty(this.page.model.properties.find(({ id }) => id === entry.hunt));
    if (entry.hunt) this.page.openLights.add(entry.hunt);
    this.page.draw();
    byId("entry").value = entry.id;
  }

  /** The list of everything the page can open. */
  home() {
    document.body.dataset.view = "home";
    fill(byId("home-list"), this.entries.map((entry) => h("li", {},
      h("a", { href: `#open=${entry.id}`, class: "card" },
        entry.verdict ? h("span", { class: `chip ${VERDICTS[entry.verdict] ?? "none"}` }, entry.note || entry.verdict) : null,
        h("b", {}, entry.title), h("span", {}, entry.doc),
        entry.run ? h("small", {}, `${entry.run.split("~").length} steps`) : null))));
  }

  async #follow() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const opens = this.entries.length === 1 || document.body.dataset.opens;
    const named = this.entries.find(({ id }) => id === parameters.get("open")) ?? (opens ? this.entries[0] : null);
    if (named) await this.open(this.#configured(named, parameters.get("set")), parameters);
    else this.home();
  }

  /** The entry of the same machine that has the constants of a link, if the page has one; else the one that is named. */
  #configured(named, set) {
    if (set === null || named.set === set) return named;
    return this.entries.find((entry) => entry.machine === named.machine && entry.set === set) ?? named;
  }

  async #model(key) {
    if (!this.models.has(key)) {
      const bytes = Uint8Array.from(atob(this.packed[key]), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      this.models.set(key, JSON.parse(await new Response(stream).text()));
    }
    return this.models.get(key);
  }

  #listen() {
    const act = (name) => this.page?.commands()[name]?.();
    for (const button of document.querySelectorAll("[data-command]")) button.addEventListener("click", () => act(button.dataset.command));
    byId("at").addEventListener("input", (event) => this.page.run.jump(Number(event.target.value)));
    byId("filter").addEventListener("input", (event) => {
      this.page.filter = event.target.value.trim().toLowerCase();
      this.page.draw();
    });
    for (const tab of document.querySelectorAll("button[data-tab]")) tab.addEventListener("click", () => this.#tab(tab.dataset.tab));
    for (const view of document.querySelectorAll("[data-show]")) view.addEventListener("click", () => this.#view(view.dataset.show));
    for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    byId("home-link").hidden = this.entries.length < 2;
    byId("entry").hidden = this.entries.length < 2;
    fill(byId("entry"), this.entries.map(({ id, title, note }) => h("option", { value: id }, note ? `${title} (${note})` : title)));
    byId("entry").addEventListener("change", (event) => { location.hash = `open=${event.target.value}`; });
    byId("home-link").addEventListener("click", () => { location.hash = ""; });
    addEventListener("hashchange", () => this.#follow());
    addEventListener("resize", () => this.page?.draw());
    addEventListener("keydown", (event) => this.#key(event, act));
  }

  #key(event, act) {
    if (!this.page || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (/^[1-9]$/.test(event.key)) document.querySelector(`[aria-keyshortcuts="${event.key}"]`)?.click();
    else if (event.key === "/") byId("filter").focus();
    else if (event.key === "?") byId("help").showModal();
    else if (KEYS[event.key]) act(KEYS[event.key]);
    else return;
    event.preventDefault();
  }

  /** On a narrow screen one panel is seen at a time. */
  #tab(name) {
    document.body.dataset.tab = name;
    for (const tab of document.querySelectorAll("button[data-tab]")) tab.setAttribute("aria-selected", String(tab.dataset.tab === name));
    this.page?.draw();
  }

  #view(name) {
    this.page.view = name;
    for (const view of document.querySelectorAll("[data-show]")) view.setAttribute("aria-selected", String(view.dataset.show === name));
    for (const id of ["run", "graph", "constants"]) byId(`view-${id}`).hidden = id !== name;
    this.page.draw();
  }
}

if (typeof document === "undefined") serveSearches(self);
else {
  byId("js-missing").hidden = true;
  new Site().start();
}
