// Lines between words: queries on the left, keys on the right, a line as thick and dark as its weight.

import { el, svg } from "./dom.js";
import { shown } from "./tokens.js";

const ROW = 30;
const FAINTEST = 0.02;

// `follow({side, index} | null, pinned)` is told where the reader points.
export function lines({ queries, keys, rows, titles, label, follow }) {
  const height = ROW * Math.max(queries.length, keys.length);
  const drawing = svg("svg", {
    class: "av-wires",
    viewBox: `0 0 100 ${height}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const wires = [];
  rows.forEach((row, q) => {
    row.forEach((weight, k) => {
      if (weight < FAINTEST) return;
      const [from, to] = [ROW * (q + 0.5), ROW * (k + 0.5)];
      const path = svg("path", {
        d: `M0 ${from}C45 ${from} 55 ${to} 100 ${to}`,
        "stroke-width": (0.6 + 6 * weight).toFixed(2),
        "stroke-opacity": (0.12 + 0.88 * weight).toFixed(3),
      });
      wires.push({ path, q, k, weight });
    });
  });
  wires.sort((a, b) => a.weight - b.weight);
  drawing.append(...wires.map(({ path }) => path));
  drawing.style.height = `${height}px`;

  const left = column("query", queries, titles.queries);
  const right = column("key", keys, titles.keys);
  const root = el(
    "div",
    { class: "av-lines", role: "group", "aria-label": label },
    el("p", { class: "av-side" }, titles.queries),
    el("p", { class: "av-side" }),
    el("p", { class: "av-side" }, titles.keys),
    left.node,
    drawing,
    right.node,
  );
  root.addEventListener("pointerleave", () => follow(null, false));

  function column(side, tokens, name) {
    const buttons = tokens.map((token, index) =>
      el(
        "button",
        {
          type: "button",
          class: "av-word",
          tabindex: index === 0 && side === "query" ? "0" : "-1",
          "aria-pressed": "false",
          onpointerenter: (event) => event.pointerType === "mouse" && follow({ side, index }, false),
          onfocus: () => follow({ side, index }, false),
          onclick: () => follow({ side, index }, true),
          onkeydown: (event) => move(event, side, index),
        },
        el("bdi", {}, shown(token)),
      ),
    );
    return { buttons, node: el("div", { class: `av-column ${side}`, role: "group", "aria-label": name }, buttons) };
  }

  // One stop for the Tab key; from there the arrows reach every word.
  function move(event, side, index) {
    const [here, there] = side === "query" ? [left, right] : [right, left];
    const target = {
      ArrowDown: here.buttons[index + 1],
      ArrowUp: here.buttons[index - 1],
      Home: here.buttons[0],
      End: here.buttons[here.buttons.length - 1],
      ArrowRight: side === "query" ? right.buttons[Math.min(index, right.buttons.length - 1)] : null,
      ArrowLeft: side === "key" ? left.buttons[Math.min(index, left.buttons.length - 1)] : null,
    }[event.key];
    if (!target) return;
    event.preventDefault();
    for (const button of [...here.buttons, ...there.buttons]) button.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  }

  return {
    node: root,
    show(followed, pinned) {
      root.classList.toggle("following", Boolean(followed));
      for (const { path, q, k } of wires) {
        path.classList.toggle("on", Boolean(followed) && (followed.side === "query" ? q : k) === followed.index);
      }
      for (const [side, { buttons }, across] of [["query", left, 0], ["key", right, 1]]) {
        buttons.forEach((button, index) => {
          const chosen = Boolean(followed) && followed.side === side && followed.index === index;
          button.classList.toggle("on", chosen);
          button.setAttribute("aria-pressed", String(chosen && pinned));
          button.style.setProperty("--weight", followed && followed.side !== side ? tint(followed, index, across) : "0");
        });
      }
      function tint(word, index, across) {
        const weight = across ? rows[word.index][index] : rows[index][word.index];
        return Math.sqrt(weight).toFixed(3);
      }
    },
  };
}
