// Elements of the page: made, filled and described for those who do not see them.

const SVG = "http://www.w3.org/2000/svg";
const IN_SVG = new Set(["svg", "g", "line", "path", "circle", "rect", "text", "title", "defs", "marker", "polygon", "tspan"]);

/** An element with attributes and children; `on…` attributes are listeners, children may be texts, lists or nothing. */
export function h(name, attributes = {}, ...children) {
  const element = IN_SVG.has(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Replace what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

export const byId = (id) => document.getElementById(id);

/** After a drawing: whoever walks by keyboard goes on where they were, or where what they chose has led to. */
export function refocus(key) {
  if (key === undefined || document.activeElement?.dataset.key === key) return;
  const again = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  (again ?? document.querySelector(".action"))?.focus();
}

/** Tell a screen reader, and nobody else, what happened. */
export function announce(text) {
  byId("said").textContent = text;
}

/** Tell everybody something for a few seconds, or as long as it takes to read. */
export function toast(text) {
  const box = byId("toast");
  box.textContent = text;
  box.classList.add("shown");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => box.classList.remove("shown"), Math.max(3500, 60 * text.length));
}
