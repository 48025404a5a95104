// All heads of a layer as small pictures; one of them is chosen.

import { inks, pixels } from "./colours.js";
import { MEAN, mean } from "./data.js";
import { el, radios } from "./dom.js";

export function heads({ layer, value, choose, t }) {
  const colour = inks(document.documentElement);
  const picture = (rows) => {
    const canvas = el("canvas", { "aria-hidden": "true" });
    pixels(canvas, rows, colour);
    canvas.style.aspectRatio = `${rows[0].length} / ${rows.length}`;
    return canvas;
  };
  const option = (head, rows, name, title) => ({
    value: head,
    title,
    content: [picture(rows), el("span", { class: "av-name" }, name)],
  });
  const options = layer.map((rows, i) => option(String(i), rows, t("av.head", { head: i + 1 }), t("av.headTitle", { head: i + 1 })));
  if (layer.length > 1) options.unshift(option(MEAN, mean(layer), t("av.mean"), t("av.meanTitle")));
  return radios({
    name: "av-head",
    kind: "av-heads",
    label: t("av.heads"),
    options,
    value: String(value),
    choose: (head) => choose(head === MEAN ? MEAN : Number(head)),
  });
}
