// Figure 1 of the paper, small: where in the model the shown weights are. Its boxes choose a kind, as the buttons do.

import { svg } from "./dom.js";

const WIDTH = 84;
const NORM = ["Add & Norm"];
const BOXES = [
  // x, y, height, lines, kind
  [26, 264, 34, ["Multi-Head", "Attention"], "encoder"],
  [26, 244, 16, NORM, null],
  [26, 202, 26, ["Feed Forward"], null],
  [26, 182, 16, NORM, null],
  [142, 264, 34, ["Masked Multi-", "Head Attention"], "decoder"],
  [142, 244, 16, NORM, null],
  [142, 194, 34, ["Multi-Head", "Attention"], "cross"],
  [142, 174, 16, NORM, null],
  [142, 132, 26, ["Feed Forward"], null],
  [142, 112, 16, NORM, null],
  [142, 62, 20, ["Linear"], null],
  [142, 34, 20, ["Softmax"], null],
  [26, 350, 20, ["Embedding"], null],
  [142, 350, 20, ["Embedding"], null],
];
const FLOW = [
  "M68 390V370", "M68 350V334", "M68 314V298", "M68 244V228", "M68 182V163H118V211H142",
  "M184 390V370", "M184 350V334", "M184 314V298", "M184 244V228", "M184 174V158", "M184 112V82", "M184 62V54", "M184 34V18",
];
// What a sublayer adds to: x + Sublayer(x), around each of them.
const AROUND = ["M68 307H19V252H26", "M68 237H19V190H26", "M184 307H233V252H226", "M184 237H233V182H226", "M184 167H233V120H226"];

export function stack({ kind, available, layers, choose, t }) {
  const marker = "av-arrow";
  const picture = svg(
    "svg",
    { class: "av-stack", viewBox: "0 0 252 410", "aria-hidden": "true" },
    svg(
      "defs",
      {},
      svg(
        "marker",
        { id: marker, viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 5, markerHeight: 5, orient: "auto" },
        svg("path", { d: "M0 0L6 3L0 6z", class: "av-tip" }),
      ),
    ),
    frame(14, 174, 108, 138, layers.encoder ? `${layers.encoder} ×` : "N ×", "start"),
    frame(130, 104, 108, 208, layers.decoder ? `${layers.decoder} ×` : "N ×", "end"),
    ...[...FLOW, ...AROUND].map((d) => svg("path", { class: "av-flow", d, "marker-end": `url(#${marker})` })),
    text(68, 404, t("av.inputs")),
    text(184, 404, t("av.outputs")),
    text(184, 12, t("av.probabilities")),
    ...[68, 184].map((x) => wave(x, 324)),
    ...BOXES.map(box),
  );

  function frame(x, y, width, height, label, anchor) {
    const at = { x: anchor === "start" ? x + 2 : x + width - 2, y: y - 6, "text-anchor": anchor };
    return svg(
      "g",
      {},
      svg("rect", { class: "av-layer", x, y, width, height, rx: 10 }),
      svg("text", { ...at, class: "av-times" }, label),
    );
  }

  function box([x, y, height, lines, meant]) {
    const able = meant !== null && available.includes(meant);
    const group = svg("g", { class: `av-box${meant ? " attends" : ""}${meant === kind ? " on" : ""}${able ? " able" : ""}` });
    group.append(svg("rect", { x, y, width: WIDTH, height, rx: 5 }));
    lines.forEach((line, i) => {
      const middle = y + height / 2 + 3.4 + (i - (lines.length - 1) / 2) * 11.5;
      group.append(text(x + WIDTH / 2, middle, line));
    });
    if (able) group.addEventListener("click", () => choose(meant));
    return group;
  }

  // The positional encoding is added where the plus is.
  function wave(x, y) {
    const able = available.includes("positions");
    const group = svg(
      "g",
      { class: `av-box attends${kind === "positions" ? " on" : ""}${able ? " able" : ""}` },
      svg("circle", { cx: x, cy: y, r: 9 }),
      svg("path", { class: "av-wave", d: `M${x - 5.5} ${y}c2 -6 3.5 -6 5.5 0s3.5 6 5.5 0` }),
    );
    if (able) group.addEventListener("click", () => choose("positions"));
    return group;
  }

  function text(x, y, words) {
    return svg("text", { x, y, "text-anchor": "middle" }, words);
  }

  return picture;
}
