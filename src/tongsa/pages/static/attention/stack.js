// Figure 1 of the paper, small: where in the model the shown weights are. Its boxes choose a kind, as the buttons do.

import { svg } from "./dom.js";

const WIDTH = 84;
const BOXES = [
  // x, y, height, lines, kind
  [26, 214, 34, ["Multi-Head", "Attention"], "encoder"],
  [26, 168, 26, ["Feed Forward"], null],
  [142, 214, 34, ["Masked Multi-", "Head Attention"], "decoder"],
  [142, 154, 34, ["Multi-Head", "Attention"], "cross"],
  [142, 108, 26, ["Feed Forward"], null],
  [142, 62, 20, ["Linear"], null],
  [142, 34, 20, ["Softmax"], null],
  [26, 312, 20, ["Embedding"], null],
  [142, 312, 20, ["Embedding"], null],
];
const FLOW = [
  "M68 352V332", "M68 312V296", "M68 276V248", "M68 214V194", "M68 168V136H112V171H142",
  "M184 352V332", "M184 312V296", "M184 276V248", "M184 214V188", "M184 154V134", "M184 108V82", "M184 62V54", "M184 34V18",
];

export function stack({ kind, available, layers, choose, t }) {
  const marker = "av-arrow";
  const picture = svg(
    "svg",
    { class: "av-stack", viewBox: "0 0 252 372", "aria-hidden": "true" },
    svg(
      "defs",
      {},
      svg(
        "marker",
        { id: marker, viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 5, markerHeight: 5, orient: "auto" },
        svg("path", { d: "M0 0L6 3L0 6z", class: "av-tip" }),
      ),
    ),
    frame(14, 150, 108, 110, layers.encoder ? `${layers.encoder} ×` : "N ×", "start"),
    frame(130, 96, 108, 164, layers.decoder ? `${layers.decoder} ×` : "N ×", "end"),
    ...FLOW.map((d) => svg("path", { class: "av-flow", d, "marker-end": `url(#${marker})` })),
    text(68, 366, t("av.inputs")),
    text(184, 366, t("av.outputs")),
    text(184, 12, t("av.probabilities")),
    ...[68, 184].map((x) => wave(x, 286)),
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
