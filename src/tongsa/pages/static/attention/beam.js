// The beam search as a tree: from left to right a step each, candidates that were left are pale.

import { asking, fixed } from "./asking.js";
import { el, radios, svg } from "./dom.js";
import { END, percent, shown, width } from "./tokens.js";

const LINE = 30;
const GAP = 26;
const MOST_WIDE = 210;
const LETTERS = '14px system-ui, "Noto Sans", "Noto Sans CJK KR", sans-serif';
const WIDTHS = [1, 2, 4, 6, 8, 10];

// lp(Y) = ((5 + |Y|) / 6)^alpha, where |Y| counts the end too (Wu et al. 2016, Equation 14)
export function lengthPenalty(length, alpha) {
  return ((5 + length) / 6) ** alpha;
}

// The hypotheses by log P / lp, best first. The search itself does not use alpha before they have ended.
export function ranked(hypotheses, alpha) {
  return hypotheses
    .map((one) => ({ ...one, penalty: lengthPenalty(one.length, alpha), score: one.log_probability / lengthPenalty(one.length, alpha) }))
    .sort((a, b) => b.score - a.score);
}

// `kept`: {answer, alpha, pruned, chosen}; it outlives this drawing.
export function beamTree({ ask, kept, t }) {
  const { status, run } = asking({ ask, t });
  const list = el("ol", { class: "bt-ranked" });
  const tree = el("div", { class: "bt-scroll", tabindex: 0, role: "group", "aria-label": t("bt.tree") });
  tree.addEventListener("pointerleave", () => kept.answer && describe(kept.chosen));
  const detail = el("div", { class: "bt-detail", "aria-live": "polite" });
  const number = el("output", {});
  const slider = el("input", {
    type: "range", min: 0, max: 3, step: 0.05, value: kept.alpha ?? 0.6, "aria-label": t("bt.alpha"),
    oninput: () => { kept.alpha = Number(slider.value); rank(); },
  });
  const pruned = el("input", { type: "checkbox", checked: kept.pruned, onchange: () => { kept.pruned = pruned.checked; draw(); } });
  const widths = el("div", {});
  let buttons = new Map();
  let edges = new Map();

  async function load(hypotheses) {
    const found = await run(() => ask.beam(hypotheses));
    if (!found) return;
    Object.assign(kept, { answer: found, alpha: kept.alpha ?? found.alpha, chosen: 0 });
    slider.value = String(kept.alpha);
    show();
  }

  function show() {
    const { answer } = kept;
    widths.replaceChildren(ask.oneAtATime ? el("p", { class: "ex-small" }, t("bt.widthIs", { beam: answer.beam })) : radios({
      name: "bt-width", kind: "av-layers", label: t("bt.width"), value: String(answer.beam), choose: (value) => load(Number(value)),
      options: [...new Set([...WIDTHS, answer.beam])].sort((a, b) => a - b).map((value) => ({ value: String(value), content: String(value) })),
    }));
    draw();
  }

  // Parents stand before their children, and children in the order of the search: likelier ones first.
  function layout(nodes) {
    const seen = (index) => kept.pruned || nodes[index].fate !== "pruned";
    const children = nodes.map(() => []);
    nodes.forEach(({ parent }, index) => { if (parent >= 0 && seen(index)) children[parent].push(index); });
    const places = new Map();
    let leaves = 0;
    let depth = 0;
    const place = (index, step) => {
      depth = Math.max(depth, step);
      const lines = children[index].map((child) => place(child, step + 1));
      const line = lines.length ? lines[0] : leaves++;
      places.set(index, { step, line });
      return line;
    };
    place(0, 0);
    const inOrder = new Map([...places].sort((a, b) => a[0] - b[0])); // for those who read the tree instead of seeing it
    return { places: inOrder, children, leaves, depth };
  }

  function draw() {
    const { nodes } = kept.answer;
    const { places, children, leaves, depth } = layout(nodes);
    const wide = Array.from({ length: depth + 1 }, () => 0);
    const name = (index) => (index ? shown(nodes[index].token) : t("bt.start"));
    const label = (index) => (index ? fixed(nodes[index].log_probability) : "");
    const own = (index) => Math.min(MOST_WIDE, Math.ceil(width(`${name(index)} ${label(index)}`, LETTERS)) + 22);
    for (const [index, { step }] of places) wide[step] = Math.max(wide[step], own(index));
    const left = wide.map((_, step) => wide.slice(0, step).reduce((sum, value) => sum + value + GAP, 0));
    const size = { width: left[depth] + wide[depth], height: leaves * LINE };
    const drawing = svg("svg", { class: "bt-edges", ...size, viewBox: `0 0 ${size.width} ${size.height}`, "aria-hidden": "true" });
    buttons = new Map();
    edges = new Map();
    for (const [index, { step, line }] of places) {
      const node = nodes[index];
      const button = el("button", {
        type: "button", class: `bt-node ${node.fate}`, tabindex: "-1", "aria-pressed": "false",
        "aria-label": t("bt.node", { token: name(index), logP: fixed(node.log_probability), fate: t(`bt.${index ? node.fate : "kept"}`) }),
        onclick: () => choose(index), onfocus: () => choose(index),
        onpointerenter: (event) => event.pointerType === "mouse" && describe(index),
        onkeydown: (event) => move(event, index, places, children),
      }, el("bdi", {}, name(index)), el("small", {}, label(index)));
      button.style.left = `${left[step]}px`;
      button.style.top = `${line * LINE}px`;
      button.style.width = `${own(index)}px`;
      buttons.set(index, button);
      if (node.parent < 0) continue;
      const from = places.get(node.parent);
      const [x0, y0, x1, y1] = [left[from.step] + own(node.parent), (from.line + 0.5) * LINE, left[step], (line + 0.5) * LINE];
      const edge = svg("path", { class: node.fate, d: `M${x0} ${y0}H${x1 - GAP}C${x1 - GAP / 2} ${y0} ${x1 - GAP / 2} ${y1} ${x1} ${y1}` });
      edges.set(index, edge);
    }
    drawing.append(...edges.values());
    const inside = el("div", { class: "bt-tree" }, drawing, ...buttons.values());
    inside.style.width = `${size.width}px`;
    inside.style.height = `${size.height}px`;
    tree.replaceChildren(inside);
    if (!buttons.has(kept.chosen)) kept.chosen = 0;
    choose(kept.chosen);
    rank();
  }

  function move(event, index, places, children) {
    const { step } = places.get(index);
    const column = [...places].filter(([, place]) => place.step === step).sort((a, b) => a[1].line - b[1].line).map(([other]) => other);
    const at = column.indexOf(index);
    const there = {
      ArrowRight: children[index][0], ArrowLeft: kept.answer.nodes[index].parent, ArrowDown: column[at + 1], ArrowUp: column[at - 1], Home: 0,
    }[event.key];
    if (!buttons.has(there)) return;
    event.preventDefault();
    buttons.get(there).focus();
  }

  function choose(index) {
    for (const [other, button] of buttons) {
      button.setAttribute("aria-pressed", String(other === index));
      button.tabIndex = other === index ? 0 : -1;
    }
    kept.chosen = index;
    describe(index);
  }

  function path(index) {
    const found = [];
    for (let at = index; at > 0; at = kept.answer.nodes[at].parent) found.unshift(at);
    return found;
  }

  function describe(index) {
    const { nodes } = kept.answer;
    const node = nodes[index];
    const text = path(index).map((at) => nodes[at].token).filter((token) => token !== END).join("").replaceAll("▁", " ").trim();
    const most = node.next.length ? node.next[0][1] : 1;
    detail.replaceChildren(
      el("p", {}, el("b", { dir: "auto" }, text || t("bt.start")), " ",
        t("bt.sum", { logP: fixed(node.log_probability), fate: t(`bt.${index ? node.fate : "kept"}`) })),
      node.next.length ? el("p", { class: "ex-small" }, t("bt.next")) : el("p", { class: "ex-small" }, t("bt.noNext")),
      el("ol", { class: "bt-next" }, node.next.map(([token, p]) => {
        const item = el("li", {}, el("bdi", {}, shown(token)), el("span", {}, percent(p)));
        item.style.setProperty("--weight", (p / most).toFixed(3));
        return item;
      })));
  }

  function rank() {
    const { answer } = kept;
    const order = ranked(answer.hypotheses, kept.alpha);
    number.textContent = fixed(kept.alpha);
    list.replaceChildren(...order.map((one, place) => el("li", { class: place ? "" : "best" },
      el("button", { type: "button", class: "bt-hypothesis", onclick: () => { choose(one.node); buttons.get(one.node)?.scrollIntoView({ block: "nearest", inline: "nearest" }); } },
        el("bdi", {}, one.text || t("bt.empty"))),
      el("small", {}, t("bt.score", { logP: fixed(one.log_probability), penalty: fixed(one.penalty), score: fixed(one.score, 3), length: one.length })))));
    const best = new Set(path(order[0]?.node ?? 0));
    for (const [index, button] of buttons) button.classList.toggle("best", best.has(index));
    for (const [index, edge] of edges) {
      edge.classList.toggle("best", best.has(index));
      if (best.has(index)) edge.parentNode.append(edge); // above the others
    }
  }

  if (kept.answer) show();
  else load(null);
  return el("div", { class: "bt" },
    el("p", { class: "av-explain" }, t("bt.explain")),
    el("div", { class: "bt-controls" }, widths,
      el("label", { class: "av-slider bt-alpha" }, el("span", {}, t("bt.alpha")), slider, number),
      el("label", { class: "ex-box" }, pruned, el("span", {}, t("bt.showPruned")))),
    status,
    el("div", { class: "bt-columns" },
      el("div", {}, el("p", { class: "ex-small" }, t("bt.ranked")), list), detail),
    tree);
}
