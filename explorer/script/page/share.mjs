// The run outside of the page: a link that restores it, a regression test, a story.

import { inEnglish, inLink } from "./language.mjs";

/** The part of a link after `#`. */
export function fragment(entry, run, model) {
  const parts = new URLSearchParams(inLink());
  if (entry) parts.set("open", entry);
  const constants = changed(model);
  if (constants) parts.set("set", constants);
  if (run.steps.length) parts.set("run", run.steps.map((number) => model.instances[number].label.replaceAll(" ", "")).join("~"));
  if (run.at !== run.steps.length) parts.set("at", String(run.at));
  if (run.loop !== null) parts.set("loop", String(run.loop));
  return parts.toString().replaceAll("%28", "(").replaceAll("%29", ")").replaceAll("%2C", ",").replaceAll("%3D", "=").replaceAll("%7E", "~");
}

/** Constants that differ from their usual values, as `name=value,…`. */
export function changed(model) {
  return Object.entries(model.constants).filter(([, { value, usual }]) => value !== usual).map(([name, { value }]) => `${name}=${value}`).join(",");
}

/** The constants of a fragment, `name=value` each; a value may have commas in it. */
export const settings = (text) => text.split(/,(?=\w+=)/).filter(Boolean);

/** Whether two fragments are about the same constants, in whatever order. */
export const sameConstants = (one, other) => settings(one).sort().join() === settings(other).sort().join();

/** The steps that a fragment names; `unknown` is the first name that there is not. */
export function stepsOf(text, model) {
  const numbers = new Map(model.instances.map(({ label }, number) => [label.replaceAll(" ", ""), number]));
  const names = text.split("~").map((name) => name.replaceAll(" ", "")).filter(Boolean);
  const unknown = names.find((name) => !numbers.has(name)) ?? null;
  const known = unknown === null ? names : names.slice(0, names.indexOf(unknown));
  return { steps: known.map((name) => numbers.get(name)), unknown };
}

/** A place in a run, as a link has it; null where that is no whole number. */
export const placeOf = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);

/** The run as a test in Python, with what the properties say of its last state. */
export function asTest(machine, model, run, words) {
  const steps = run.steps.slice(0, run.at).map((number) => `    "${model.instances[number].label}",`);
  const wrong = model.properties.filter(({ kind, holds }) => kind === "always" && !machine.predicate(holds)(run.state));
  const right = model.properties.filter((property) => property.kind === "always" && !wrong.includes(property) && !property.elsewhere);
  const name = wrong.length ? wrong[0].id : `a_run_of_${model.machine}`;
  const constants = Object.entries(model.constants).filter(([, { value, usual }]) => value !== usual)
    .map(([key, { value }]) => `    "${key}": ${JSON.stringify(value)},`);
  const last = run.at ? inEnglish(() => words.changes(run.before, run.state)) : [];
  const claims = [
    ...wrong.map(({ id }) => `    assert not run.holds("${id}")`),
    ...right.map(({ id }) => `    assert run.holds("${id}")`),
    ...last.map(({ label, cell }) => `    assert run["${label}"] == ${run.state[cell]}  # ${inEnglish(() => words.value(cell, run.state[cell]))}`),
  ];
  return [
    '"""A run of the model, from the explorer."""', "", "from rocketproof.explorer import rerun", "",
    "CONSTANTS = {", ...constants, "}", "STEPS = [", ...steps, "]", "", "",
    `def test_${name.replaceAll(/[^a-z0-9_]/g, "_")}() -> None:`,
    `    run = rerun("${model.machine}", CONSTANTS, STEPS)`,
    ...(claims.length ? claims : ["    assert len(run.states) == len(STEPS) + 1"]), "",
  ].join("\n");
}

/** The run as a story, as `verify` tells it. */
export function asStory(model, run, words) {
  const lines = [[model.machine, ...settings(changed(model))].join(" "), ""];
  const width = String(run.at).length;
  run.steps.slice(0, run.at).forEach((number, position) => {
    if (run.loop === position) lines.push("from here on the run repeats for ever:");
    lines.push(`${String(position + 1).padStart(width)}. ${model.instances[number].tells}`);
    for (const { label, old, now } of inEnglish(() => words.changes(run.states[position], run.states[position + 1]))) lines.push(`${" ".repeat(width)}    ${label}: ${old} → ${now}`);
  });
  return `${lines.join("\n")}\n`;
}

/** The command that opens a configuration of the machine, with these constants, `name=value` each. */
export function explore(model, constants) {
  return ["rocketproof explore", model.machine, ...constants.map((text) => `--set ${quoted(text)}`)].join(" ");
}

/** A word as a shell reads it. */
const quoted = (word) => (/^[\w=.,:/+-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The command that opens this configuration again. */
export function command(model) {
  return explore(model, settings(changed(model)));
}
