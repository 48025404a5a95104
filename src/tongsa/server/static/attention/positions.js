// Positions as a heat map: what is added to the embeddings so that the model knows where a token stands.

import { pixels, waves } from "./colours.js";
import { el, svg } from "./dom.js";
import { sinusoids } from "./formula.js";
import { shown } from "./tokens.js";

const TALL = 9;

export function positions({ data, dimension, choose, t }) {
  const table = data.position_table;
  const size = table[0].length;
  const learned = data.positions === "learned";
  const largest = Math.max(...table.map((row) => Math.max(...row.map(Math.abs)))) || 1;
  const colour = waves(document.documentElement);

  const canvas = el("canvas", { class: "av-table", role: "img", "aria-label": t("av.positionsLabel", { positions: table.length, size }) });
  pixels(canvas, table, (value) => colour(value / largest));
  canvas.style.height = `${TALL * table.length}px`;
  const column = el("i", { class: "av-dimension", "aria-hidden": "true" });
  const names = el("div", { class: "av-positions-names", "aria-hidden": "true" });
  const every = Math.ceil(18 / TALL);
  table.forEach((_, position) => {
    const token = data.source[position];
    if (position % every && position !== 0) return;
    const name = el("span", {}, el("b", {}, String(position)), token === undefined ? "" : ` ${shown(token)}`);
    name.style.top = `${TALL * (position + 0.5)}px`;
    names.append(name);
  });

  const similar = el("canvas", { class: "av-similar", role: "img", "aria-label": t("av.similarLabel") });
  pixels(similar, products(table), colour);

  const reading = el("output", { class: "av-positions-reading" });
  const curve = svg("path", { class: "av-curve" });
  const dots = svg("g", { class: "av-dots" });
  const chart = svg(
    "svg",
    { class: "av-wave-chart", viewBox: `0 0 ${table.length - 1} 100`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { class: "av-zero", d: `M0 50H${table.length - 1}` }),
    curve,
    dots,
  );
  const slider = el("input", {
    type: "range",
    min: 0,
    max: size - 1,
    value: dimension,
    "aria-label": t("av.dimension"),
    oninput: () => pick(Number(slider.value)),
  });

  function pick(chosen) {
    slider.value = String(chosen);
    choose(chosen);
    column.style.left = `${(100 * (chosen + 0.5)) / size}%`;
    curve.setAttribute(
      "d",
      table.map((row, position) => `${position ? "L" : "M"}${position} ${50 - (45 * row[chosen]) / largest}`).join(""),
    );
    reading.textContent = words(chosen);
  }

  function words(chosen) {
    if (learned) return t("av.learnedReading", { dimension: chosen });
    const length = 2 * Math.PI * 10000 ** ((chosen - (chosen % 2)) / size);
    const rounded = length < 100 ? length.toFixed(1) : Math.round(length).toLocaleString("en");
    return t(chosen % 2 ? "av.cosineReading" : "av.sineReading", { dimension: chosen, length: rounded });
  }

  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    pick(Math.max(0, Math.min(size - 1, Math.floor((size * (event.clientX - box.left)) / box.width))));
  });
  pick(dimension);

  return el(
    "div",
    { class: "av-positions" },
    el("p", { class: "av-explain" }, t(learned ? "av.learnedExplain" : "av.sinusoidExplain")),
    learned ? null : el("div", { class: "av-formula" }, sinusoids()),
    el(
      "div",
      { class: "av-positions-grid" },
      el(
        "figure",
        {},
        el("figcaption", {}, el("b", {}, t("av.table")), ` ${t("av.tableAxes", { size })}`),
        el("div", { class: "av-table-box" }, names, el("div", { class: "av-table-wrap" }, canvas, column)),
      ),
      el(
        "div",
        {},
        el(
          "figure",
          {},
          el("figcaption", {}, el("b", {}, t("av.wave")), " ", reading),
          chart,
          el("div", { class: "av-ends", "aria-hidden": "true" }, el("span", {}, `${t("av.position")} 0`), el("span", {}, String(table.length - 1))),
          el("label", { class: "av-slider" }, el("span", {}, t("av.dimension")), slider),
        ),
        el("figure", {}, el("figcaption", {}, el("b", {}, t("av.similar")), ` ${t("av.similarNote")}`), similar),
      ),
    ),
  );
}

// Cosines between all pairs of positions: neighbours are alike, and alike wherever they stand.
function products(table) {
  const length = table.map((row) => Math.hypot(...row) || 1);
  return table.map((a, p) => table.map((b, q) => a.reduce((sum, value, i) => sum + value * b[i], 0) / (length[p] * length[q])));
}
