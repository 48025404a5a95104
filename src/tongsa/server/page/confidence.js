// How sure the model is of each word: underlined and tinted, and told in words.

import { el } from "./kit/attention/dom.js";

const SURE = 0.7;
const DOUBTFUL = 0.4;
const NAMED = 12;

export function level(confidence) {
  if (confidence >= SURE) return "high";
  return confidence >= DOUBTFUL ? "middle" : "low";
}

const percent = (confidence) => Math.round(100 * confidence);

// A span for each word; text between words stays text.
export function words(list, t) {
  return list.map(({ text, confidence }) => {
    if (typeof confidence !== "number" || !text.trim()) return text;
    const found = level(confidence);
    const title = t("confidence.word", { word: text.trim(), percent: percent(confidence), level: t(`confidence.${found}`) });
    return el("span", { class: `word ${found}`, title }, text);
  });
}

// The same as text, for screen readers.
export function doubts(list, t) {
  const unsure = list.filter(({ text, confidence }) => typeof confidence === "number" && text.trim() && level(confidence) !== "high");
  if (!unsure.length) return "";
  const named = unsure.slice(0, NAMED).map(({ text, confidence }) => `${text.trim()} (${percent(confidence)}%)`);
  return t("confidence.words", { words: named.join(", ") });
}
