// The language of the page's words: its own, and what the model says of the presets. What leaves the page is in English.

import { CHINESE } from "./chinese.mjs";
import { OF_MODEL } from "./chinese_model.mjs";

export const ENGLISH = "en";
const TABLES = { [ENGLISH]: {}, zh: CHINESE };
const TAGS = { [ENGLISH]: "en", zh: "zh-CN" };
const HOLE = /\{(\d)\}/g;
const NAME = /\b[a-z]\d+\b|\b[A-Z]+(?:_[A-Z]+)+\b/g;
const SAID_BY = ["title", "aria-label", "placeholder"];

let language = ENGLISH;
let chosen = false;

/** A text in the language of the page, `{0}`, `{1}` … filled with values. */
export const say = (text, ...values) => filled(TABLES[language][text] ?? text, values);

const filled = (text, values) => text.replace(HOLE, (_, place) => String(values[place]));

/** What the model says, and in which language where that is not the page's: what is no preset's has no translation. */
export function ofModel(text) {
  const names = [];
  const known = OF_MODEL[text.replace(NAME, (name) => `{${names.push(name) - 1}}`)];
  if (language === ENGLISH) return { text, lang: null };
  return known === undefined ? { text, lang: ENGLISH } : { text: filled(known, names), lang: null };
}

/** The language of the page. */
export const spoken = () => language;

/** What a link says of the language: nothing where nobody has chosen one. */
export const inLink = () => (chosen ? { lang: language } : {});

/** Speak the language that somebody chose, or that a browser asks for. */
export function speak(name, { asked = true } = {}) {
  const known = Object.keys(TABLES).find((each) => name.toLowerCase().startsWith(each));
  language = known ?? ENGLISH;
  chosen ||= asked;
}

/** What `make` makes, in English: for texts that leave the page, as commands print them. */
export function inEnglish(make) {
  const before = language;
  language = ENGLISH;
  try {
    return make();
  } finally {
    language = before;
  }
}

/** The texts that stand in the page from the beginning; the function says them anew after a change of language. */
export function standing(document) {
  const said = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    if (text in CHINESE && node.parentElement.tagName !== "SCRIPT") said.push([node.data, (told) => { node.data = told; }]);
  }
  for (const element of document.querySelectorAll(SAID_BY.map((name) => `[${name}]`).join(", "))) {
    for (const name of SAID_BY) {
      if (element.getAttribute(name) in CHINESE) said.push([element.getAttribute(name), (told) => element.setAttribute(name, told)]);
    }
  }
  return () => {
    document.documentElement.lang = TAGS[language];
    for (const [text, put] of said) put(text.replace(text.trim(), say(text.trim())));
  };
}
