// Do something to the model, or to the sentence, and see what happens to the translation.

import { asking, fixed } from "./asking.js";
import { KINDS } from "./data.js";
import { el, radios } from "./dom.js";
import { percent, shown } from "./tokens.js";

const PAUSE = 300; // milliseconds after the last change
const MOST_CHANGED = 5;

export function nothingDone() {
  return { off: new Set(), scale: true, positions: "kept", cross: true, instead: null, answer: null };
}

// `kept` is what was done so far (`nothingDone()` at first); it outlives this drawing.
export function interventions({ data, ask, kept, t }) {
  const { status, run, cancel } = asking({ ask, t });
  const cells = new Map();
  const result = el("div", { class: "ex-result", "aria-live": "polite" });
  let waiting = null;

  const nothing = () => !kept.off.size && kept.scale && kept.positions === "kept" && kept.cross && kept.instead === null;

  function change(values) {
    if (ask.oneAtATime) Object.assign(kept, nothingDone());
    Object.assign(kept, values);
    controls();
    clearTimeout(waiting);
    waiting = setTimeout(answer, ask.oneAtATime ? 0 : PAUSE);
  }

  async function answer() {
    if (nothing()) {
      cancel();
      kept.answer = null;
    } else {
      const { scale, positions, cross, instead } = kept;
      const found = await run(() => ask.intervene({ heads_off: [...kept.off], scale, positions, cross, instead }));
      if (!found) return;
      kept.answer = found;
    }
    tell();
  }

  // A grid of a kind: a row for each layer, a button for each head.
  function grid(kind) {
    const rows = data[kind].map((layer, l) =>
      el("tr", {}, el("th", { scope: "row" }, String(l + 1)), layer.map((_, h) => el("td", {}, cell(kind, l, h)))));
    const numbers = el("tr", {}, el("td", {}), data[kind][0].map((_, h) => el("th", { scope: "col" }, String(h + 1))));
    return el("figure", { class: "ex-grid" }, el("figcaption", {}, el("b", {}, t(`av.kind.${kind}`))),
      el("div", { class: "av-scroll" }, el("table", {}, el("thead", {}, numbers), el("tbody", {}, rows))));
  }

  function cell(kind, l, h) {
    const name = `${kind}.${l + 1}.${h + 1}`;
    const button = el("button", {
      type: "button", class: "ex-head", "aria-pressed": "false", tabindex: l + h === 0 ? "0" : "-1",
      "aria-label": t("ex.headName", { kind: t(`av.kind.${kind}`), layer: l + 1, head: h + 1 }),
      onclick: () => {
        const off = new Set(kept.off);
        if (!off.delete(name)) off.add(name);
        change({ off: ask.oneAtATime && off.size ? new Set([name]) : off });
      },
      onkeydown: (event) => step(event, kind, l, h),
    });
    cells.set(name, button);
    return button;
  }

  // One stop for the Tab key in each grid; from there the arrows reach every head.
  function step(event, kind, l, h) {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [0, 0];
    const there = cells.get(`${kind}.${l + down + 1}.${h + right + 1}`);
    if (!(down || right) || !there) return;
    event.preventDefault();
    cells.get(`${kind}.${l + 1}.${h + 1}`).tabIndex = -1;
    there.tabIndex = 0;
    there.focus();
  }

  const box = (text, name) => {
    const input = el("input", { type: "checkbox", onchange: () => change({ [name]: input.checked }) });
    return { input, node: el("label", { class: "ex-box" }, input, el("span", {}, text)) };
  };
  const boxes = { scale: box(t("ex.scale"), "scale"), cross: box(t("ex.cross"), "cross") };
  const positions = data.positions
    ? radios({
        name: "ex-positions", kind: "av-layers ex-positions", label: t("ex.positions"), value: kept.positions,
        options: ["kept", "shuffled", "none"].map((value) => ({ value, content: t(`ex.positions.${value}`) })),
        choose: (value) => change({ positions: value }),
      })
    : null;
  const sentence = ask.sentence
    ? el("input", {
        type: "text", dir: "auto", maxlength: 600, value: kept.instead ?? ask.sentence,
        oninput: () => change({ instead: sentence.value.trim() === ask.sentence.trim() || !sentence.value.trim() ? null : sentence.value }),
      })
    : null;
  const reset = el("button", {
    type: "button", class: "av-play",
    onclick: () => {
      if (sentence) sentence.value = ask.sentence;
      change(nothingDone());
    },
  }, t("ex.reset"));

  function controls() {
    for (const [name, button] of cells) button.setAttribute("aria-pressed", String(kept.off.has(name)));
    for (const [name, { input }] of Object.entries(boxes)) input.checked = kept[name];
    const chosen = positions?.querySelector(`input[value="${kept.positions}"]`);
    if (chosen) chosen.checked = true;
    reset.disabled = nothing();
  }

  function tell() {
    const found = kept.answer;
    for (const [name, button] of cells) {
      const [kind, layer, head] = name.split(".");
      const moved = found?.changed[kind]?.[layer - 1]?.[head - 1] ?? 0;
      button.style.setProperty("--weight", Math.sqrt(moved).toFixed(3));
      button.textContent = moved >= 0.005 ? String(Math.round(100 * moved)) : "";
      button.classList.toggle("strong-ink", moved > 0.3);
    }
    result.replaceChildren(...(found ? answered(found) : [el("p", { class: "av-explain" }, t("ex.hint"))]));
  }

  function answered(found) {
    const [was, now] = found.log_probability;
    const same = found.before === found.after;
    return [
      el("dl", { class: "ex-pair" },
        el("dt", {}, t("ex.before")), el("dd", { dir: "auto" }, found.before),
        el("dt", {}, t("ex.after")), el("dd", { dir: "auto" }, ...marked(found.before, found.after))),
      el("p", {}, t(same ? "ex.same" : "ex.other"), " ",
        t("ex.logP", { was: fixed(was), now: fixed(now), change: `${now > was ? "+" : ""}${fixed(now - was)}` })),
      el("p", { class: "ex-small" }, t("ex.tokens")),
      el("ol", { class: "ex-tokens" }, found.tokens.map(([token, first, second]) => {
        const lost = Math.min(1, Math.max(0, first - second) / 4);
        const chip = el("li", {}, el("bdi", {}, shown(token)), ` ${percent(Math.exp(first))} → ${percent(Math.exp(second))}`);
        chip.style.setProperty("--weight", lost.toFixed(3));
        return chip;
      })),
      ...mostChanged(found.changed),
    ];
  }

  function mostChanged(changed) {
    const all = KINDS.flatMap((kind) => changed[kind].flatMap((layer, l) => layer.map((moved, h) => ({ kind, l, h, moved }))));
    const most = all.filter(({ moved }) => moved >= 0.005).sort((a, b) => b.moved - a.moved).slice(0, MOST_CHANGED);
    const uncompared = KINDS.filter((kind) => data[kind].length && !changed[kind].length);
    return [
      el("p", { class: "ex-small" }, t(most.length ? "ex.changed" : "ex.unchanged")),
      most.length ? el("ol", { class: "ex-changed" }, most.map(({ kind, l, h, moved }) =>
        el("li", {}, t("ex.headName", { kind: t(`av.kind.${kind}`), layer: l + 1, head: h + 1 }), ` ${percent(moved)}`))) : null,
      uncompared.length ? el("p", { class: "ex-small" }, t("ex.uncompared", { kinds: uncompared.map((kind) => t(`av.kind.${kind}`)).join(", ") })) : null,
    ].filter(Boolean);
  }

  const node = el("div", { class: "ex" },
    el("p", { class: "av-explain" }, t(ask.oneAtATime ? "ex.explainFile" : "ex.explain")),
    el("div", { class: "ex-columns" },
      el("div", { class: "ex-grids" }, KINDS.filter((kind) => data[kind].length).map(grid), el("p", { class: "ex-small" }, t("ex.gridNote"))),
      el("div", { class: "ex-side" },
        el("div", { class: "ex-controls" }, boxes.scale.node, boxes.cross.node, positions,
          sentence ? el("label", { class: "ex-sentence" }, el("span", {}, t("ex.sentence")), sentence) : null, reset),
        status, result)));
  controls();
  tell();
  return node;
}

// The words of `after`, those that are not in `before` in the same order marked.
function marked(before, after) {
  const [a, b] = [before.split(" "), after.split(" ")];
  const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const made = [];
  let i = 0;
  b.forEach((text, j) => {
    while (i < a.length && a[i] !== text && common[i + 1][j] >= common[i][j + 1]) i += 1;
    const kept = i < a.length && a[i] === text;
    if (kept) i += 1;
    made.push(j ? " " : "", kept ? text : el("mark", {}, text));
  });
  return made;
}
