"use strict";
(() => {
  const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));
  const one = (selector, inside = document) => inside.querySelector(selector);
  const pad = (number, digits = 2) => String(number).padStart(digits, "0");

  // Times: UTC as written, or in the zone of the reader.
  let local = false;
  const utc = (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, -1);
  const here = (ms) => {
    const d = new Date(ms);
    const day = `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`;
    return `${day} ${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}.${pad(d.getMilliseconds(), 3)}`;
  };
  const shown = (ms) => (local ? here(ms) : utc(ms));
  const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone || "local";
  const datable = (ms) => Math.abs(ms) <= 8.64e15;
  for (const item of all(".local")) {
    const ms = Number(item.dataset.ms);
    if (datable(ms) && here(ms) !== utc(ms)) item.textContent = ` = ${here(ms)} ${zoneName}`;
  }
  const zone = one("#zone");
  zone.hidden = false;
  zone.addEventListener("click", () => {
    local = !local;
    zone.textContent = local ? `times: ${zoneName}` : "times: UTC";
    for (const item of all("time[data-ms]")) {
      const ms = Number(item.dataset.ms);
      if (datable(ms)) item.textContent = shown(ms);
    }
    for (const axis of all("svg.axis")) drawAxis(axis);
  });

  // Claims: by verdict, and by words.
  const filters = one(".filters");
  if (filters) {
    filters.hidden = false;
    const search = one("input", filters);
    let verdict = "";
    const filter = () => {
      const words = search.value.toLowerCase();
      for (const row of all(".claims tbody tr")) {
        const fits = (!verdict || row.dataset.verdict === verdict) && row.textContent.toLowerCase().includes(words);
        row.hidden = !fits;
      }
    };
    search.addEventListener("input", filter);
    for (const button of all("button", filters)) {
      button.addEventListener("click", () => {
        verdict = button.dataset.verdict;
        for (const other of all("button", filters)) other.classList.toggle("on", other === button);
        filter();
      });
    }
  }

  // What a link points to is opened.
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let item = target; item; item = item.parentElement) if (item.tagName === "DETAILS") item.open = true;
    const first = target && one("details", target);
    if (first) first.open = true;
  };
  addEventListener("hashchange", open);
  open();

  // Tooltips: the title of what is pointed at, at once.
  const tip = one("#tip");
  document.addEventListener("pointermove", (event) => {
    const shape = event.target.closest("rect, circle");
    const title = shape && one("title", shape);
    if (title) shape.dataset.tip = title.textContent;
    if (title) title.remove();
    const text = shape && shape.dataset.tip;
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/g, (time) => shown(Date.parse(time.replace(" ", "T") + "Z")));
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8))}px`;
    const below = event.clientY + 16;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : below}px`;
  });

  // The axis of time: all lanes of the whole trace are zoomed together.
  const steps = [1, 1e3, 6e4, 36e5, 864e5].flatMap((size, place) =>
    [[1, 2, 5, 10, 20, 50, 100, 200, 500], [1, 2, 5, 10, 15, 30], [1, 2, 5, 10, 15, 30], [1, 2, 3, 6, 12],
      [1, 2, 7, 14, 30, 90, 365]][place].map((factor) => factor * size));
  const label = (ms, step) => {
    const [date, clock] = shown(ms).split(" ");
    if (step >= 864e5) return date;
    return step < 1e3 ? clock : step < 6e4 ? clock.slice(0, 8) : clock.slice(0, 5);
  };
  const make = (name, attributes, text = "") => {
    const item = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) item.setAttribute(key, value);
    item.textContent = text;
    return item;
  };
  let range = null;
  const drawAxis = (axis) => {
    const own = axis.closest(".own-axis");
    const [begin, end] = range && !own ? range : [Number(axis.dataset.begin), Number(axis.dataset.end)];
    if (!datable(begin) || !datable(end)) return;
    const length = Math.max(end - begin, 1);
    const step = steps.find((size) => length / size <= 6) || length;
    const offset = local && step >= 36e5 ? new Date(begin).getTimezoneOffset() * 6e4 : 0;
    const marks = [];
    for (let ms = Math.ceil((begin - offset) / step) * step + offset; ms <= end && marks.length < 24; ms += step) {
      const x = `${(100 * (ms - begin)) / length}%`;
      marks.push(make("line", { x1: x, x2: x, y1: 0, y2: 5 }), make("text", { x, y: 16 }, label(ms, step)));
    }
    axis.replaceChildren(...marks);
  };
  const whole = one("#whole");
  const zoom = (begin, end) => {
    const axis = one(".lanes:not(.own-axis) svg.axis");
    const [first, last] = [Number(axis.dataset.begin), Number(axis.dataset.end)];
    const length = Math.max(last - first, 1);
    begin = Math.max(first, begin);
    end = Math.min(last, Math.max(end, begin + 1));
    range = begin <= first && end >= last ? null : [begin, end];
    const factor = length / Math.max(end - begin, 1);
    for (const drawing of all(".lanes:not(.own-axis) svg.zoomed")) {
      drawing.setAttribute("width", `${100 * factor}%`);
      drawing.setAttribute("x", `${(-100 * factor * (begin - first)) / length}%`);
    }
    for (const each of all("svg.axis")) drawAxis(each);
    whole.hidden = range === null;
  };
  whole.addEventListener("click", () => zoom(-Infinity, Infinity));
  const moment = (strip, x) => {
    const axis = one("svg.axis", strip.closest(".lanes"));
    const [begin, end] = range || [Number(axis.dataset.begin), Number(axis.dataset.end)];
    const place = strip.getBoundingClientRect();
    return begin + ((end - begin) * Math.min(Math.max(x - place.left, 0), place.width)) / place.width;
  };
  let drag = null;
  document.addEventListener("pointerdown", (event) => {
    const strip = event.target.closest(".lanes:not(.own-axis) svg.strip");
    drag = strip && event.button === 0 ? { strip, x: event.clientX, shape: event.target.closest("rect") } : null;
    if (drag) event.preventDefault();
  });
  document.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { strip, x, shape } = drag;
    drag = null;
    if (Math.abs(event.clientX - x) > 5) {
      const [a, b] = [moment(strip, x), moment(strip, event.clientX)];
      zoom(Math.min(a, b), Math.max(a, b));
    } else if (shape) {
      const box = shape.getBoundingClientRect();
      const axis = one("svg.axis", strip.closest(".lanes"));
      const [begin, end] = range || [Number(axis.dataset.begin), Number(axis.dataset.end)];
      const place = strip.getBoundingClientRect();
      const scale = (end - begin) / place.width;
      const margin = Math.max(box.width / 4, 2) * scale;
      zoom(begin + (box.left - place.left) * scale - margin, begin + (box.right - place.left) * scale + margin);
    }
  });
  document.documentElement.dataset.ready = "yes";
})();
