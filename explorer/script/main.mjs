// Where the script begins: in a page it opens what the page is about; in a worker it answers searches.

import { byId, fill, h, toast } from "./page/dom.mjs";
import { ENGLISH, inLink, say, speak, spoken, standing } from "./page/language.mjs";
import { unpacked } from "./page/packed.mjs";
import { Page } from "./page/page.mjs";
import { sameConstants } from "./page/share.mjs";
import { serveSearches } from "./page/worker.mjs";

const KEYS = { ArrowLeft: "undo", ArrowRight: "redo", Home: "first", End: "last", u: "undo", r: "random", w: "walk", s: "hunt", l: "link", Backspace: "undo" };
const VERDICTS = { HOLDS: "good", VIOLATED: "bad", UNKNOWN: "warn" };

/** Whether there was room for the configuration of an entry. */
const opens = (entry) => entry.model !== null;

/** Where an entry opens: in this page, or in one beside it. */
const address = (entry) => `${entry.page ? encodeURIComponent(entry.page) : ""}#${new URLSearchParams({ ...inLink(), open: entry.id })}`;

/** What a page is about: entries, each a configuration with perhaps a run; configurations are packed. */
class Site {
  constructor({ entries, model }) {
    this.listed = entries;
    this.entries = entries.filter(opens);
    this.model = model;
    this.page = null;
    this.title = byId("name").textContent;
    this.sayStanding = standing(document);
  }

  /** Begin: what the link says, or what there is. */
  start() {
    this.#listen();
    this.#follow();
    document.body.dataset.ready = "yes";
  }

  open(entry, parameters = new URLSearchParams()) {
    const view = this.page?.view ?? "run";
    this.page?.leave();
    document.body.dataset.view = "one";
    this.page = new Page(this.model(entry.model), entry, this.entries);
    this.page.view = view;
    byId("filter").value = this.page.filter;
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
    this.page?.leave();
    document.body.dataset.view = "home";
    byId("name").textContent = this.title;
    fill(byId("about"));
    document.title = say("{0} · rocketproof explorer", this.title);
    const missing = this.listed.filter((entry) => !opens(entry));
    const others = missing.some(({ page }) => page) ? say("the others in further pages beside this one.") : say("for the others the page has no room, so each names the command that opens it.");
    byId("home-note").hidden = missing.length === 0;
    byId("home-note").textContent = say("{0} of {1} open here; {2}", this.entries.length, this.listed.length, others);
    fill(byId("home-list"), this.listed.map((entry) => h("li", {},
      h(opens(entry) || entry.page ? "a" : "div", { href: opens(entry) || entry.page ? address(entry) : null, class: "card" },
        entry.verdict ? h("span", { class: `chip ${VERDICTS[entry.verdict] ?? "none"}` }, say(entry.note || entry.verdict)) : null,
        h("b", {}, entry.title), h("span", { lang: ENGLISH }, entry.doc),
        entry.run ? h("small", {}, say(entry.run.includes("~") ? "{0} steps" : "{0} step", entry.run.split("~").length)) : null,
        opens(entry) || entry.page ? null : h("code", {}, entry.command)))));
  }

  #follow() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    if (parameters.get("lang")) speak(parameters.get("lang"));
    this.#spell();
    const wanted = parameters.get("open");
    const atOnce = this.listed.length === 1 || document.body.dataset.opens;
    const named = this.entries.find(({ id }) => id === wanted) ?? (atOnce ? this.entries[0] : null);
    const elsewhere = this.listed.find((entry) => entry.id === wanted && !opens(entry));
    if (elsewhere?.page) {
      location.replace(address(elsewhere));
      return;
    }
    if (elsewhere) toast(say("For {0} this page has no room; its command opens it.", wanted));
    else if (wanted && wanted !== named?.id) toast(say("There is no “{0}” in this page.", wanted));
    if (named) this.open(this.#configured(named, parameters.get("set")), parameters);
    else this.home();
  }

  /** The entry of the same machine that has the constants of a link, if the page has one; else the one that is named. */
  #configured(named, set) {
    if (set === null || sameConstants(named.set, set)) return named;
    return this.entries.find((entry) => entry.machine === named.machine && sameConstants(entry.set, set)) ?? named;
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
    byId("home-link").hidden = this.listed.length < 2;
    byId("entry").hidden = this.entries.length < 2;
    fill(byId("entry"), this.entries.map(({ id, title, note }) => h("option", { value: id }, note ? `${title} (${say(note)})` : title)));
    byId("entry").addEventListener("change", (event) => { location.hash = new URLSearchParams({ ...inLink(), open: event.target.value }); });
    byId("home-link").addEventListener("click", () => { location.hash = new URLSearchParams(inLink()); });
    byId("language").addEventListener("click", () => this.#speak(spoken() === ENGLISH ? "zh" : ENGLISH));
    addEventListener("hashchange", () => this.#follow());
    addEventListener("resize", () => this.page?.draw());
    addEventListener("keydown", (event) => this.#key(event, act));
  }

  /** What stands in the page, and the name of the other language, in the language that is spoken. */
  #spell() {
    this.sayStanding();
    const [text, name, lang] = spoken() === ENGLISH ? ["中文", "中文", "zh-CN"] : ["EN", "English", ENGLISH];
    const button = byId("language");
    button.textContent = text;
    for (const [key, value] of Object.entries({ lang, title: name, "aria-label": name })) button.setAttribute(key, value);
  }

  /** The user wants the other language: the run stays, and the link says it from now on. */
  #speak(name) {
    speak(name);
    this.#spell();
    if (document.body.dataset.view === "one") {
      this.page.show();
      this.page.link();
    } else {
      this.home();
      history.replaceState(null, "", `#${new URLSearchParams(inLink())}`);
    }
  }

  #key(event, act) {
    if (document.body.dataset.view !== "one" || !this.page || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) return;
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
  speak(navigator.language, { asked: false });
  unpacked(byId("packed").textContent).then((given) => new Site(given).start());
}
