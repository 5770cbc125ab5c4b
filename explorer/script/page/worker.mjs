// The side of a search that runs in a worker: takes a goal, tells how far it is, answers once.

import { Machine } from "../kernel/machine.mjs";
import { Search } from "../kernel/search.mjs";

const SLICE = 20_000;

/** Whether a state is what is looked for; null for a goal that is a step. */
function goalOf(machine, goal) {
  if (goal.kind === "property") {
    const holds = machine.predicate(goal.node);
    return (state) => holds(state) === goal.wanted;
  }
  if (goal.kind === "cell") {
    const signs = { is: (a) => a === goal.value, "≥": (a) => a >= goal.value, "≤": (a) => a <= goal.value };
    return (state) => signs[goal.sign](state[goal.cell]);
  }
  return goal.kind === "dead" ? (state) => machine.enabled(state).length === 0 : null;
}

/** Answer searches until the worker is ended. */
export function serveSearches(scope) {
  scope.onmessage = ({ data: { model, goal, limit, from } }) => {
    try {
      const machine = new Machine(model);
      const search = new Search(machine, {
        from: Int32Array.from(from), limit, goal: goalOf(machine, goal),
        goalStep: goal.kind === "step" ? (number) => number === goal.instance : null,
      });
      const started = performance.now();
      for (let done = search.done; ; done = search.advance(SLICE)) {
        scope.postMessage({ ...search.report(), done, seconds: (performance.now() - started) / 1000 });
        if (done) return;
      }
    } catch (error) {
      scope.postMessage({ error: error.message });
    }
  };
}
