// Positions as a heat map: what is added to the embeddings so that the model knows where a token stands.

import { inks, pixels, waves } from "./colours.js";
import { el, svg } from "./dom.js";
import { sinusoids } from "./formula.js";

const SHOWN = 256; // positions
const TALL = 3; // pixels of a position
const NAMED = 16; // every so many positions have a number
const DOTTED = 64; // positions of the drawn wave
const FINE = 10; // points of a drawn wave between two positions

// PE(pos, 2i) = sin(pos / 10000^(2i / size)), PE(pos, 2i + 1) = cos of the same (section 3.5)
export function sinusoidTable(length, size) {
  const rates = Array.from({ length: size }, (_, i) => 10000 ** (-(i - (i % 2)) / size));
  return Array.from({ length }, (_, position) => rates.map((rate, i) => (i % 2 ? Math.cos : Math.sin)(position * rate)));
}

export function positions({ data, dimension, choose, t }) {
  const table = data.position_table ?? sinusoidTable(SHOWN, data.position_width || data.d_model);
  const size = table[0].length;
  const learned = data.positions === "learned";
  const largest = Math.max(...table.map((row) => Math.max(...row.map(Math.abs)))) || 1;
  const colour = waves(document.documentElement);

  const canvas = el("canvas", { class: "av-table", role: "img", "aria-label": t("av.positionsLabel", { positions: table.length, size }) });
  pixels(canvas, table, (value) => colour(value / largest));
  canvas.style.height = `${TALL * table.length}px`;
  const column = el("i", { class: "av-dimension", "aria-hidden": "true" });
  const names = el("div", { class: "av-positions-names", "aria-hidden": "true" });
  for (let position = 0; position < table.length; position += NAMED) {
    const name = el("span", {}, String(position));
    name.style.top = `${TALL * (position + 0.5)}px`;
    names.append(name);
  }
  const sentence = el("i", { class: "av-sentence", title: t("av.sentenceRows") });
  sentence.style.height = `${TALL * Math.min(data.source.length, table.length)}px`;

  names.append(sentence);
  const similar = el("canvas", { class: "av-similar", role: "img", "aria-label": t("av.similarLabel") });
  pixels(similar, cosines(table), inks(document.documentElement));

  const last = Math.min(DOTTED, table.length) - 1;
  const reading = el("output", { class: "av-positions-reading" });
  const curve = svg("path", { class: "av-curve" });
  const dots = svg("path", { class: "av-dots" });
  const chart = svg(
    "svg",
    { class: "av-wave-chart", viewBox: `0 0 ${last} 100`, preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("path", { class: "av-zero", d: `M0 50H${last}` }),
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
    const height = (value) => (50 - (45 * value) / largest).toFixed(2);
    curve.setAttribute("d", wave(chosen).map(([x, y], i) => `${i ? "L" : "M"}${x} ${height(y)}`).join(""));
    dots.setAttribute("d", table.slice(0, DOTTED).map((row, position) => `M${position} ${height(row[chosen])}h0`).join(""));
    reading.textContent = words(chosen);
  }

  // Between two positions a sinusoid goes on; what was learned is known at the positions alone.
  function wave(chosen) {
    if (learned) return table.slice(0, DOTTED).map((row, position) => [position, row[chosen]]);
    const rate = 10000 ** (-(chosen - (chosen % 2)) / size);
    const form = chosen % 2 ? Math.cos : Math.sin;
    return Array.from({ length: FINE * last + 1 }, (_, i) => [i / FINE, form((i / FINE) * rate)]);
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
    learned ? null : el("div", { class: "av-formula", tabindex: 0, role: "group", "aria-label": t("av.formula") }, sinusoids()),
    el(
      "div",
      { class: "av-positions-grid" },
      el(
        "figure",
        {},
        el("figcaption", {}, el("b", {}, t("av.table")), ` ${t("av.tableAxes", { last: size - 1 })}`),
        el("div", { class: "av-table-box" }, names, el("div", { class: "av-table-wrap" }, canvas, column)),
        el("p", { class: "av-side" }, t("av.sentenceRows")),
      ),
      el(
        "div",
        {},
        el(
          "figure",
          {},
          el("figcaption", {}, el("b", {}, t("av.wave")), " ", reading),
          chart,
          el("div", { class: "av-ends", "aria-hidden": "true" }, el("span", {}, `${t("av.position")} 0`), el("span", {}, String(last))),
          el("label", { class: "av-slider" }, el("span", {}, t("av.dimension")), slider),
        ),
        el("figure", {}, el("figcaption", {}, el("b", {}, t("av.similar")), ` ${t("av.similarNote")}`), similar),
      ),
    ),
  );
}

// Cosines between all pairs of positions, from the least (white) to 1, squared because ink takes the root again.
function cosines(table) {
  const length = table.map((row) => Math.hypot(...row) || 1);
  const found = table.map((a, p) => table.map((b, q) => a.reduce((sum, value, i) => sum + value * b[i], 0) / (length[p] * length[q])));
  const least = Math.min(...found.map((row) => Math.min(...row)));
  return found.map((row) => row.map((value) => ((value - least) / (1 - least || 1)) ** 2));
}
