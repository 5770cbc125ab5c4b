// The run as a sequence diagram that grows: lanes, and what travels between them.

import { h } from "./dom.mjs";
import { ENGLISH, ofModel, say } from "./language.mjs";

const ROW = 34;
const TOP = 8;
const HEAD = 40;
const LEFT = 34;

/** The diagram of a run; a click on a step looks at the state after it. */
export function sequence({ model, run, width, marks }) {
  const lanes = model.lanes;
  const gap = Math.max(62, (width - LEFT - 30) / lanes.length);
  const full = Math.max(width, LEFT + gap * lanes.length + 20);
  const x = (lane) => LEFT + gap * (lanes.indexOf(lane) + 0.5);
  const height = TOP + ROW * Math.max(3, run.steps.length + 1);
  const title = say("Sequence diagram of {0} steps between {1}", run.steps.length, lanes.filter((lane) => lane !== "·").join(", "));
  const heads = h("svg", { class: "sequence heads", viewBox: `0 0 ${full} ${HEAD}`, width: full, height: HEAD, "aria-hidden": "true" }, lanes.map((lane) => [
    h("rect", { class: `lane ${laneKind(lane)}`, x: x(lane) - 27, y: 8, width: 54, height: 26, rx: 8 }),
    h("text", { class: "lane-name", x: x(lane), y: 26 }, lane === "·" ? say("world") : lane),
  ]));
  const body = h("svg", { class: "sequence", viewBox: `0 0 ${full} ${height}`, width: full, height, role: "img", "aria-label": title },
    h("defs", {}, ["plain", "fault", "dim"].map((kind) =>
      h("marker", { id: `tip-${kind}`, class: `tip ${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
        h("path", { d: "M0 0 L10 5 L0 10 z" })))),
    lanes.map((lane) => h("line", { class: "lifeline", x1: x(lane), x2: x(lane), y1: 0, y2: height - 8 })),
    run.steps.map((number, position) => step({ model, run, number, position, x, full, gap, mark: marks.get(position + 1) })),
  );
  return [heads, body];
}

/** What a lane is, by its first letter, for its color. */
export const laneKind = (lane) => ({ c: "client", q: "queue", b: "broker" })[lane[0]] ?? "world";

function step({ model, run, number, position, x, full, gap, mark }) {
  const instance = model.instances[number];
  const [source, target, travel, cargo, fault] = instance.drawn;
  const y = TOP + ROW * position + 17;
  const at = position + 1;
  const classes = ["step", travel, fault ? "fault" : "", at === run.at ? "here" : "", at > run.at ? "future" : ""];
  const from = x(source);
  const to = x(target);
  const name = model.actions[instance.action].name.replaceAll("_", " ");
  const text = cargo ? `${name} ${cargo}` : name;
  const tip = `url(#tip-${fault ? "fault" : "plain"})`;
  const parts = [];
  if (source === target) {
    const wide = text.length * 6.4 + 18;
    const left = Math.max(2, Math.min(from - wide / 2, full - wide - 2));
    parts.push(h("rect", { class: "note", x: left, y: y - 11, width: wide, height: 22, rx: 11 }),
      h("text", { class: "label", lang: ENGLISH, x: left + wide / 2, y: y + 4 }, text));
  } else {
    const sign = Math.sign(to - from);
    const end = travel === "lost" ? from + (to - from) * 0.62 : to - sign * 3;
    const above = travel === "both" ? y - 1 : y + 3;
    parts.push(h("line", { class: "arrow", x1: from + sign * 3, x2: end, y1: above, y2: above, "marker-end": travel === "lost" ? null : tip }));
    if (travel === "both") parts.push(h("line", { class: "arrow back", x1: to - sign * 3, x2: from + sign * 3, y1: y + 7, y2: y + 7, "marker-end": tip }));
    if (travel === "lost") parts.push(h("path", { class: "cross", d: `M${end - 5} ${above - 5} l10 10 m0 -10 l-10 10` }));
    if (at === run.at) parts.push(h("circle", { class: "parcel", r: 4.5, cx: end, cy: above, style: `--from:${from - end}px` }));
    const middle = Math.abs(to - from) > gap * 1.5 ? from + (sign * gap) / 2 : (from + to) / 2;
    parts.push(h("text", { class: "label", lang: ENGLISH, x: middle, y: above - 5 }, text));
  }
  return h("g", { class: classes.join(" "), "data-at": at, onclick: () => run.jump(at) },
    h("title", {}, `${at}. ${ofModel(instance.tells).text}`),
    h("rect", { class: "row", x: 0, y: y - 17, width: full, height: ROW }),
    h("text", { class: "number", x: LEFT - 10, y: y + 4 }, String(at)),
    mark ? h("circle", { class: `mark ${mark}`, cx: full - 12, cy: y, r: 5 }, h("title", {}, say("a property turns here"))) : null,
    parts);
}
