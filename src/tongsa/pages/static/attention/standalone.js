// A file of its own: the data stand in the page, in an element that browsers do not execute.

import { EXPERIMENT_TEXTS } from "./experiment_texts.js";
import { ATTENTION_TEXTS } from "./texts.js";
import { attentionView } from "./view.js";
import { preferred, speaker } from "../language.js";

const stored = JSON.parse(document.getElementById("data").textContent);
const done = stored.experiments ?? {};

// The name under which the file has the answer to a change: it has one change at a time.
function nameOf({ heads_off: off, scale, positions: order, cross }) {
  if (off.length) return off[0];
  if (!scale) return "scale";
  return cross ? `positions.${order}` : "cross";
}

const answers = {
  oneAtATime: true,
  experiments: () => Object.keys(done),
  explain: (_, t) => t("ex.notStored"),
  intervene: async (change) => done.interventions[nameOf(change)] ?? Promise.reject(new Error("not stored")),
  beam: async () => done.beam,
  training: async (update) => done.training.find((each) => each.update === update) ?? Promise.reject(new Error("not stored")),
};

const language = preferred();
const texts = { [language]: { ...ATTENTION_TEXTS[language], ...EXPERIMENT_TEXTS[language] } };
const view = attentionView(document.getElementById("view"), speaker(language, texts), answers);
document.documentElement.lang = language;
view.show(stored);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.redraw());
addEventListener("beforeprint", () => view.redraw());
