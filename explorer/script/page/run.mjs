// The run that is on the page: steps from the initial state, and the place in it that is looked at.

/** A run with a past and a future: `at` is the number of steps taken in the state that is shown. */
export class Run {
  constructor(machine) {
    this.machine = machine;
    this.steps = [];
    this.states = [machine.initial];
    this.at = 0;
    this.loop = null;
    this.listeners = [];
  }

  get state() {
    return this.states[this.at];
  }

  /** The state before the last step, or null at the start. */
  get before() {
    return this.at ? this.states[this.at - 1] : null;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  changed(how) {
    for (const listener of this.listeners) listener(how);
  }

  /** Take a step; what was the future is forgotten. Returns false where it is not enabled. */
  take(number) {
    const next = this.machine.step(this.state, number);
    if (!next) return false;
    this.steps = [...this.steps.slice(0, this.at), number];
    this.states = [...this.states.slice(0, this.at + 1), next];
    this.loop = null;
    this.at += 1;
    this.changed("step");
    return true;
  }

  /** Look at another place of the run. */
  jump(at) {
    const place = Math.max(0, Math.min(this.steps.length, at));
    if (place === this.at) return;
    this.at = place;
    this.changed("jump");
  }

  /**
   * Another run from the initial state; returns the position of the first step that is not enabled, or -1.
   * A `loop` counts only where the run ends in the state that it begins with.
   */
  load(steps, at = steps.length, loop = null) {
    const states = [this.machine.initial];
    let broken = -1;
    for (const [position, number] of steps.entries()) {
      const next = this.machine.step(states[position], number);
      if (!next) {
        broken = position;
        break;
      }
      states.push(next);
    }
    this.states = states;
    this.steps = steps.slice(0, states.length - 1);
    this.loop = broken < 0 && this.#closes(loop) ? loop : null;
    this.at = Math.max(0, Math.min(this.steps.length, at));
    this.changed("load");
    return broken;
  }

  #closes(loop) {
    return this.states[loop]?.every((value, cell) => value === this.states.at(-1)[cell]) ?? false;
  }

  /** A random step, each action equally likely, then each of its enabled instances. */
  random(chance = Math.random) {
    const { model } = this.machine;
    const actions = new Map();
    for (const number of this.machine.enabled(this.state)) {
      const { action } = model.instances[number];
      actions.set(action, [...(actions.get(action) ?? []), number]);
    }
    if (!actions.size) return false;
    const choose = (items) => items[Math.floor(chance() * items.length)];
    return this.take(choose(choose([...actions.values()])));
  }
}
