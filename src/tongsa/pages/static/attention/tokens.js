// Tokens as they are read, and how much room they take.

export const START = "<start>";
export const END = "</s>";

// The mark of a word's beginning goes; a token that goes on a word gets a dot.
export function shown(token) {
  if (token === END) return "‹end›";
  if (token === START) return "‹start›";
  if (token.startsWith("▁")) return token.slice(1) || "␣";
  return /[\p{L}\p{N}]/u.test(token) ? `·${token}` : token;
}

let ruler = null;

export function width(text, font) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}

export function percent(weight) {
  const value = 100 * weight;
  if (value > 0 && value < 1) return "<1 %";
  return `${Math.round(value)} %`;
}
