// The attention view below the panes: inspects one sentence of the text while it is open.

import { attention as fetchAttention, experiment } from "./api.js";
import { el } from "./kit/attention/dom.js";
import { attentionView } from "./kit/attention/view.js";

// Split by the browser's own rules, where it has them; otherwise by lines.
export function sentences(text, language) {
  const pieces = globalThis.Intl?.Segmenter
    ? [...new Intl.Segmenter(language || "en", { granularity: "sentence" }).segment(text)].map(({ segment }) => segment)
    : text.split("\n");
  return pieces.flatMap((piece) => piece.split("\n")).map((piece) => piece.trim()).filter(Boolean);
}

export function attentionPanel({ button, inside, box, select, status, root, texts, errorText }) {
  let pair = null; // the sentence that is shown, its languages and its translation
  const sentence = () => ({ q: pair.q, source: pair.source, target: pair.target });
  const ask = {
    get sentence() { return pair.q; },
    experiments: (data) => (data.architecture === "transformer" ? ["interventions", "beam", "training"] : ["beam", "training"]),
    explain: (error) => errorText(error),
    intervene: ({ instead, ...change }) => experiment("interventions", { ...sentence(), ...change, ...(instead === null ? {} : { instead }) }),
    beam: (width) => experiment("beam", { ...sentence(), ...(width === null ? {} : { beam: width }) }),
    training: (update) => experiment("training", { ...pair, ...(update === null ? {} : { update }) }),
    numbers: (head) => experiment("numbers", { ...pair, head }),
  };
  const view = attentionView(root, (...given) => texts()(...given), ask);
  let given = null;
  let current = null;
  let shown = "";

  const open = () => !inside.hidden;

  button.addEventListener("click", () => {
    inside.hidden = open();
    name();
    update();
  });
  select.addEventListener("change", update);

  function name() {
    const t = texts();
    button.setAttribute("aria-expanded", String(open()));
    button.textContent = t(open() ? "attention.close" : "attention.open");
  }

  function list() {
    const found = given ? sentences(given.q, given.source) : [];
    const before = select.selectedIndex;
    select.replaceChildren(...found.map((sentence, i) => el("option", { value: i }, sentence)));
    select.selectedIndex = before >= 0 && before < found.length ? before : 0;
    box.hidden = found.length < 2;
    return found;
  }

  async function update() {
    if (!open()) return;
    const t = texts();
    const chosen = Math.max(0, select.selectedIndex);
    const found = list();
    select.selectedIndex = Math.min(chosen, found.length - 1);
    const q = found[select.selectedIndex];
    if (!q) {
      root.replaceChildren();
      shown = "";
      status.textContent = t("attention.empty");
      return;
    }
    const { source, target } = given;
    const request = { q, source, target, ...(found.length === 1 && given.translation ? { translation: given.translation } : {}) };
    const key = JSON.stringify(request);
    if (key === shown) return;
    current?.abort();
    const mine = new AbortController();
    current = mine;
    status.textContent = shown ? "" : t("attention.working");
    try {
      const answer = await fetchAttention(request, mine.signal);
      if (current !== mine) return;
      shown = key;
      status.textContent = "";
      pair = { q, source, target, translation: answer.translatedText };
      view.show(answer);
    } catch (error) {
      if (error.name === "AbortError" || current !== mine) return;
      shown = "";
      root.replaceChildren();
      status.textContent = errorText(error);
    }
  }

  return {
    // A text and its translation, or null.
    setTranslation(values) {
      given = values;
      update();
    },
    localize() {
      name();
      if (open() && shown) view.speak((...words) => texts()(...words));
      else update();
    },
    redraw: () => open() && shown && view.redraw(),
  };
}
