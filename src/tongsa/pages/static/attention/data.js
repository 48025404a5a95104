// The weights, as the view asks for them.

import { START } from "./tokens.js";

export const KINDS = ["encoder", "decoder", "cross"];
export const MEAN = "mean";

// A kind's rows and columns: the decoder reads its own output one step late (section 3.1 of the paper).
export function sides(data, kind) {
  const source = data.source;
  const target = data.target;
  if (kind === "encoder") return { queries: source, keys: source };
  if (kind === "decoder") return { queries: target, keys: [START, ...target.slice(0, -1)] };
  return { queries: target, keys: source };
}

export function mean(heads) {
  return heads[0].map((row, q) => row.map((_, k) => heads.reduce((sum, head) => sum + head[q][k], 0) / heads.length));
}

export function weights(data, { kind, layer, head }) {
  const heads = data[kind][layer];
  return head === MEAN ? mean(heads) : heads[head];
}

// The layer whose heads together look most clearly somewhere.
export function sharpest(layers) {
  const clearness = layers.map((heads) => mean(heads).reduce((sum, row) => sum + Math.max(...row), 0));
  return clearness.indexOf(Math.max(...clearness));
}

// What a word looks at, or who looks at it: strongest first.
export function strongest(rows, { side, index }, most) {
  const values = side === "query" ? rows[index] : rows.map((row) => row[index]);
  return values
    .map((weight, place) => ({ weight, place }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, most)
    .filter(({ weight }) => weight >= 0.005);
}
