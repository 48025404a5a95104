// The attention view: a kind, a layer and a head are chosen; heat map and lines show its weights.

import { beamTree } from "./beam.js";
import { KINDS, MEAN, sharpest, sides, strongest, weights } from "./data.js";
import { el, radios } from "./dom.js";
import { formula } from "./formula.js";
import { heads } from "./heads.js";
import { heatmap } from "./heatmap.js";
import { interventions, nothingDone } from "./interventions.js";
import { lines } from "./lines.js";
import { headNumbers } from "./numbers.js";
import { positions } from "./positions.js";
import { stack } from "./stack.js";
import { percent, shown } from "./tokens.js";
import { overTraining } from "./training.js";

const PACE = 1100;
const EXPERIMENTS = ["interventions", "beam", "training"];

// What the reader did in the experiments with one sentence; where there is little room, pruned branches are not drawn at first.
function newExperiments(roomy) {
  return {
    interventions: nothingDone(),
    beam: { answer: null, alpha: null, pruned: roomy, chosen: 0 },
    training: { answers: new Map(), updates: null, at: 0, kind: "cross", layer: null, head: MEAN },
    numbers: { open: false, matrix: "scores", answers: new Map() },
  };
}

// `ask` answers what the experiments ask (asking.js); without it there are none.
export function attentionView(root, t, ask = null) {
  const state = { kind: null, layer: 0, head: MEAN, followed: null, pinned: false, dimension: 0 };
  let data = null;
  let experiments = null;
  let pictures = [];
  let reading = null;
  let playing = null;

  function available() {
    const able = (name) => ask?.experiments(data).includes(name);
    return [...KINDS.filter((kind) => data[kind].length), ...(data.positions ? ["positions"] : []), ...EXPERIMENTS.filter(able)];
  }

  const attends = () => KINDS.some((kind) => data[kind].length);

  // What was chosen before stays chosen where the new sentence's model has it.
  function show(fresh) {
    data = fresh;
    experiments = newExperiments(root.clientWidth >= 720);
    const able = available();
    if (!able.includes(state.kind)) choose({ kind: able.includes("cross") ? "cross" : able[0] ?? null });
    else choose({});
  }

  function choose(change) {
    stop();
    const switched = change.kind !== undefined && change.kind !== state.kind;
    Object.assign(state, { followed: null, pinned: false }, change);
    const layers = KINDS.includes(state.kind) ? data[state.kind] : [];
    if (layers.length) {
      if (switched || state.layer >= layers.length) state.layer = sharpest(layers);
      if (layers[state.layer].length === 1) state.head = 0;
      else if (state.head !== MEAN && state.head >= layers[state.layer].length) state.head = MEAN;
    }
    draw();
  }

  function draw() {
    const focused = remembered();
    root.classList.add("attention-view");
    pictures = [];
    root.replaceChildren(...(available().length ? [top(), body()] : [el("p", { class: "av-none" }, nothing())]));
    focused?.();
  }

  function nothing() {
    return t("av.nothing", { architecture: data.architecture });
  }

  // After a choice everything is drawn anew; the keyboard must find itself where it was.
  function remembered() {
    const active = document.activeElement;
    if (!root.contains(active) || active.type !== "radio") return null;
    const group = active.closest("fieldset").className;
    return () => root.querySelector(`fieldset[class="${group}"] input:checked`)?.focus({ preventScroll: true });
  }

  function top() {
    const able = available();
    const offered = EXPERIMENTS.filter((name) => able.includes(name));
    const options = [...KINDS, "positions", ...offered].map((kind) => ({
      value: kind,
      content: t(`av.kind.${kind}`),
      disabled: !able.includes(kind),
      title: able.includes(kind) ? undefined : t("av.lacks"),
    }));
    const chosen = radios({
      name: "av-kind", kind: "av-kinds", label: t("av.kinds"), options, value: state.kind, choose: (kind) => choose({ kind }),
    });
    const lacking = KINDS.filter((kind) => !data[kind].length).map((kind) => t(`av.kind.${kind}`));
    const lacks = lacking.length ? el("p", { class: "av-lacking" }, t("av.lacking", { kinds: lacking.join(", ") })) : null;
    const note = attends() ? lacks : el("p", { class: "av-none" }, nothing());
    return el("div", { class: "av-top" }, chosen, note);
  }

  // An experiment has the whole width.
  function experiment() {
    const given = { data, ask, t, kept: experiments[state.kind], room: Math.max(260, wide() - 34) };
    const made = { interventions, beam: beamTree, training: overTraining }[state.kind](given);
    return el("div", { class: "av-body alone" }, el("div", { class: "av-main" }, made));
  }

  function body() {
    if (EXPERIMENTS.includes(state.kind)) return experiment();
    const main = el("div", { class: "av-main" });
    const transformer = data.architecture === "transformer";
    const layers = { encoder: data.encoder.length, decoder: data.cross.length };
    const aside = transformer
      ? el("aside", { class: "av-aside", "aria-label": t("av.figure") },
          stack({ kind: state.kind, available: available(), layers, choose: (kind) => choose({ kind }), t }),
          el("p", {}, t("av.figure")))
      : null;
    const whole = el("div", { class: `av-body${aside ? "" : " alone"}` }, aside, main);
    if (state.kind === "positions") {
      main.append(positions({ data, dimension: state.dimension, t, choose: (dimension) => { state.dimension = dimension; } }));
    } else {
      main.append(...explanation(transformer), choosers(), picture(), readout(), legend());
      if (ask?.numbers && transformer && data.d_k) main.append(headNumbers({ data, ask, state, kept: experiments.numbers, t }));
    }
    return whole;
  }

  function explanation(transformer) {
    const text = el("p", { class: "av-explain" }, t(transformer ? `av.explain.${state.kind}` : `av.plain.${state.kind}`));
    if (!transformer || !data.d_k) return [text];
    const letters = el("p", { class: "av-letters" },
      el("b", { class: "av-Q" }, "Q"), ` ${t(`av.Q.${state.kind}`)} · `,
      el("b", { class: "av-K" }, "K"), ", ", el("b", { class: "av-V" }, "V"), ` ${t(`av.KV.${state.kind}`)} · `,
      el("i", {}, "d", el("sub", {}, "k")), ` = ${data.d_k}`);
    return [text, el("div", { class: "av-formula", tabindex: 0, role: "group", "aria-label": t("av.formula") }, formula(), letters)];
  }

  function choosers() {
    const layers = data[state.kind];
    const options = layers.map((_, i) => ({ value: String(i), content: String(i + 1), title: t("av.layerTitle", { layer: i + 1 }) }));
    return el("div", { class: "av-choosers" },
      radios({
        name: "av-layer", kind: "av-layers", label: t("av.layer"), options, value: String(state.layer),
        choose: (layer) => choose({ layer: Number(layer) }),
      }),
      heads({ layer: layers[state.layer], value: state.head, t, choose: (head) => choose({ head }) }));
  }

  function picture() {
    const rows = weights(data, state);
    const { queries, keys } = sides(data, state.kind);
    const titles = { queries: t(`av.queries.${state.kind}`), keys: t(`av.keys.${state.kind}`) };
    const label = `${t(`av.kind.${state.kind}`)}, ${where()}`;
    const room = Math.max(260, wide() - 34);
    const given = { queries, keys, rows, titles, label, room, follow, masked: state.kind === "decoder" };
    pictures = [lines({ ...given, label: t("av.lines") }), heatmap(given)];
    return el("div", { class: "av-pictures" },
      el("figure", {}, el("figcaption", {}, el("b", {}, t("av.lines")), ` ${t("av.linesNote")}`), pictures[0].node),
      el("figure", {}, el("figcaption", {}, el("b", {}, t("av.map")), ` ${t("av.mapNote")}`), pictures[1].node));
  }

  // The width that the heat map will have: the style sheet's columns, before anything is in them.
  function wide() {
    const whole = root.clientWidth;
    if (whole < 720) return whole - 24;
    const main = whole - (data.architecture === "transformer" && whole >= 1000 ? 264 : 0);
    return main * 0.58;
  }

  function where() {
    const layer = t("av.layerTitle", { layer: state.layer + 1 });
    return `${layer}, ${state.head === MEAN ? t("av.meanTitle") : t("av.headTitle", { head: state.head + 1 })}`;
  }

  function readout() {
    reading = el("div", { class: "av-reading", "aria-live": "polite" });
    const play = el("button", { type: "button", class: "av-play", onclick: () => (playing ? stop() : start(play)) }, t("av.play"));
    const made = el("div", { class: "av-readout" }, play, reading);
    tell();
    return made;
  }

  function follow(followed, pinned) {
    if (playing) stop();
    const same = pinned && state.pinned && state.followed?.side === followed.side && state.followed.index === followed.index;
    if (state.pinned && !pinned) return;
    Object.assign(state, same ? { followed: null, pinned: false } : { followed, pinned });
    mark();
  }

  function mark() {
    for (const shownPicture of pictures) shownPicture.show(state.followed, state.pinned);
    tell();
  }

  function tell() {
    if (!state.followed) {
      reading.replaceChildren(el("p", {}, t("av.hint")));
      return;
    }
    const { queries, keys } = sides(data, state.kind);
    const { side, index } = state.followed;
    const [own, other] = side === "query" ? [queries, keys] : [keys, queries];
    const sentence = t(side === "query" ? `av.looks.${state.kind}` : "av.lookedAt", { word: shown(own[index]) });
    const found = strongest(weights(data, state), state.followed, 5);
    const bars = found.map(({ weight, place }) => {
      const bar = el("li", {}, el("bdi", {}, shown(other[place])), ` ${percent(weight)}`);
      bar.style.setProperty("--weight", weight.toFixed(3));
      return bar;
    });
    reading.replaceChildren(el("p", {}, sentence), el("ol", {}, bars));
  }

  // Steps through the queries as the model does: a teacher talks meanwhile.
  function start(button) {
    const last = sides(data, state.kind).queries.length - 1;
    let index = -1;
    const step = () => {
      if (index >= last) { stop(); return; }
      index += 1;
      Object.assign(state, { followed: { side: "query", index }, pinned: true });
      mark();
    };
    button.textContent = t("av.stop");
    playing = { timer: setInterval(step, PACE), button };
    step();
  }

  function stop() {
    if (!playing) return;
    clearInterval(playing.timer);
    playing.button.textContent = t("av.play");
    playing = null;
    state.pinned = false;
  }

  function legend() {
    return el("div", { class: "av-legend" },
      el("span", {}, t("av.weight"), " 0"), el("i", { class: "av-scale", "aria-hidden": "true" }), el("span", {}, "1"),
      el("small", {}, t("av.root")), el("small", {}, t("av.dot")),
      state.kind === "decoder" ? el("small", {}, el("i", { class: "av-hatched", "aria-hidden": "true" }), t("av.masked")) : null,
      el("details", {}, el("summary", {}, t("av.asTable")), numbers()));
  }

  function numbers() {
    const { queries, keys } = sides(data, state.kind);
    const head = el("tr", {}, el("td", {}), keys.map((key) => el("th", { scope: "col" }, shown(key))));
    const rows = weights(data, state).map((row, q) =>
      el("tr", {}, el("th", { scope: "row" }, shown(queries[q])), row.map((weight) => el("td", {}, weight.toFixed(2)))));
    return el("div", { class: "av-numbers", tabindex: "0", role: "group", "aria-label": t("av.asTable") },
      el("table", {}, el("caption", {}, `${t(`av.kind.${state.kind}`)}, ${where()}`), el("thead", {}, head), el("tbody", {}, rows)));
  }

  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (data && Math.abs(root.clientWidth - width) > 8) {
      width = root.clientWidth;
      draw();
    }
  }).observe(root);

  return {
    show,
    redraw: () => data && draw(),
    speak: (words) => {
      t = words;
      if (data) choose({});
    },
  };
}
