// The matrices of one head, asked for when the reader opens them.

import { asking } from "./asking.js";
import { MEAN, sides } from "./data.js";
import { el, radios } from "./dom.js";
import { shown } from "./tokens.js";

const MATRICES = ["q", "k", "v", "scores", "scaled", "masked", "weights", "output"];
const BY_KEY = ["scores", "scaled", "masked", "weights"];

// `kept`: {open, matrix, answers (by head)}; it outlives this drawing.
export function headNumbers({ data, ask, state, kept, t }) {
  const { status, run } = asking({ ask, t });
  const inside = el("div", {});
  const node = el("details", { class: "nu", open: kept.open, ontoggle: toggled }, el("summary", {}, t("nu.title")), status, inside);

  // Browsers also tell of what is drawn open.
  function toggled() {
    if (kept.open === node.open) return;
    kept.open = node.open;
    show();
  }

  async function show() {
    if (!node.open) return;
    if (state.head === MEAN) {
      inside.replaceChildren(el("p", { class: "ex-small" }, t("nu.chooseHead")));
      return;
    }
    const name = `${state.kind}.${state.layer + 1}.${state.head + 1}`;
    if (!kept.answers.has(name)) {
      const found = await run(() => ask.numbers(name));
      if (!found) return;
      kept.answers.set(name, found);
    }
    draw(kept.answers.get(name));
  }

  function draw(found) {
    const causal = found.masked.some((row) => row.includes(null));
    const names = MATRICES.filter((matrix) => matrix !== "masked" || causal);
    if (!names.includes(kept.matrix)) kept.matrix = "scores";
    const chosen = radios({
      name: "nu-matrix", kind: "av-layers", label: t("nu.matrix"), value: kept.matrix,
      options: names.map((matrix) => ({ value: matrix, content: t(`nu.${matrix}`) })),
      choose: (matrix) => { kept.matrix = matrix; fill(found); },
    });
    inside.replaceChildren(chosen, el("div", { class: "nu-body" }));
    fill(found);
  }

  function fill(found) {
    const rows = found[kept.matrix];
    const { queries, keys } = sides({ source: data.source, target: found.target }, state.kind);
    const names = ["k", "v"].includes(kept.matrix) ? keys : queries;
    const columns = BY_KEY.includes(kept.matrix) ? keys.map(shown) : rows[0].map((_, i) => String(i));
    const head = el("tr", {}, el("td", {}), columns.map((column) => el("th", { scope: "col" }, column)));
    const body = rows.map((row, at) => el("tr", {}, el("th", { scope: "row" }, shown(names[at])),
      row.map((value) => el("td", { class: value === null ? "nu-masked" : "" }, value === null ? "−∞" : value.toFixed(2).replace("-", "−")))));
    const caption = t(`nu.explain.${kept.matrix}`, { d_k: data.d_k });
    inside.lastChild.replaceChildren(el("div", { class: "av-numbers", tabindex: "0", role: "group", "aria-label": t("nu.title") },
      el("table", {}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body))));
  }

  show();
  return node;
}
