// The weights of one head: a row is a query's softmax, a column a key.

import { css, inks } from "./colours.js";
import { el, freshId, svg } from "./dom.js";
import { percent, shown, width } from "./tokens.js";

const FONT = '13px system-ui, "Noto Sans", "Noto Sans CJK KR", sans-serif';
const AXIS_FONT = FONT.replace("13px", "11.5px");
const SLOPE = Math.SQRT1_2;

export function heatmap({ queries, keys, rows, masked, titles, label, room, follow }) {
  const names = { queries: queries.map(shown), keys: keys.map(shown) };
  const longest = (list) => Math.max(...list.map((name) => width(name, FONT)));
  const left = 34 + longest(names.queries);
  const top = 34 + SLOPE * longest(names.keys);
  const cell = Math.max(17, Math.min(34, (room - left - 24) / keys.length));
  const overhang = names.keys.map((name, k) => SLOPE * width(name, FONT) - cell * (keys.length - k - 0.5));
  const right = 14 + Math.max(0, ...overhang);
  const [wide, high] = [cell * keys.length, cell * queries.length];
  const hatch = freshId("av-hatch");
  const across = axis(`${titles.keys} →`, left + wide / 2);
  const down = axis(`← ${titles.queries}`, top + high / 2);
  const picture = svg("svg", {
    class: "av-map",
    width: Math.ceil(Math.max(left + wide + right, across.end)),
    height: Math.ceil(Math.max(top + high + 8, down.end)),
    role: "img",
    "aria-label": label,
  });
  picture.append(
    pattern(hatch),
    svg("text", { class: "av-axis", x: across.middle, y: 13, "text-anchor": "middle" }, across.title),
    svg("text", { class: "av-axis", transform: `translate(13 ${down.middle}) rotate(-90)`, "text-anchor": "middle" }, down.title),
  );

  const colour = inks(document.documentElement);
  const cells = svg("g");
  rows.forEach((row, q) => {
    row.forEach((weight, k) => {
      const hidden = masked && k > q;
      cells.append(
        svg("rect", {
          x: left + cell * k + 0.5,
          y: top + cell * q + 0.5,
          width: cell - 1,
          height: cell - 1,
          rx: 2,
          fill: hidden ? `url(#${hatch})` : css(colour(weight)),
        }),
      );
    });
  });
  const rowNames = names.queries.map((name, q) =>
    svg("text", { x: left - 9, y: top + cell * (q + 0.5) + 4.5, "text-anchor": "end" }, name),
  );
  const columnNames = names.keys.map((name, k) =>
    svg("text", { transform: `translate(${left + cell * (k + 0.5) + 4} ${top - 7}) rotate(-45)` }, name),
  );
  const marks = svg("g", { class: "av-marks" });
  picture.append(cells, ...rowNames, ...columnNames, marks);

  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const q = Math.floor((event.clientY - box.top - top) / cell);
    const k = Math.floor((event.clientX - box.left - left) / cell);
    const inRows = q >= 0 && q < queries.length;
    const inColumns = k >= 0 && k < keys.length;
    if (inRows && k < keys.length) follow({ side: "query", index: q, at: inColumns ? k : undefined }, false);
    else if (inColumns && q < 0) follow({ side: "key", index: k }, false);
  });
  picture.addEventListener("pointerleave", () => follow(null, false));

  function mark(followed) {
    const { side, index } = followed;
    const frame =
      side === "query"
        ? { x: left, y: top + cell * index, width: wide, height: cell }
        : { x: left + cell * index, y: top, width: cell, height: high };
    const made = [svg("rect", { class: "av-frame", ...frame, rx: 3 })];
    if (cell < 20) return made;
    const values = side === "query" ? rows[index] : rows.map((row) => row[index]);
    values.forEach((weight, place) => {
      if (weight < 0.05) return;
      const [q, k] = side === "query" ? [index, place] : [place, index];
      const text = { x: left + cell * (k + 0.5), y: top + cell * (q + 0.5) + 4, "text-anchor": "middle" };
      const face = `av-value${weight > 0.3 ? " on-dark" : ""}`;
      made.push(svg("text", { class: face, ...text }, percent(weight).replace(" %", "")));
    });
    return made;
  }

  // What may scroll must be reachable with the keyboard, whatever the fonts make of its width.
  const scroll = el("div", { class: "av-scroll", tabindex: 0, role: "group", "aria-label": label }, picture);
  return {
    node: scroll,
    show(followed) {
      rowNames.forEach((text, q) => text.classList.toggle("on", followed?.side === "query" && followed.index === q));
      columnNames.forEach((text, k) => {
        const on = followed?.side === "key" ? followed.index === k : followed?.at === k;
        text.classList.toggle("on", Boolean(followed) && on);
      });
      marks.replaceChildren(...(followed ? mark(followed) : []));
    },
  };
}

function pattern(id) {
  return svg(
    "defs",
    {},
    svg(
      "pattern",
      { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("path", { class: "av-hatch", d: "M0 0V6" }),
    ),
  );
}

// The title of an axis in the middle of it; that of a short axis begins at the edge of the picture, and may be longer.
function axis(title, middle) {
  const half = width(title, AXIS_FONT) / 2 + 3;
  const placed = Math.max(half, middle);
  return { title, middle: placed, end: placed + half };
}
