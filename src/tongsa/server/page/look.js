// The attention view below the panes: it looks at a sentence of the text once it is opened.

import { attention } from "./api.js";
import { el } from "./kit/attention/dom.js";
import { attentionView } from "./kit/attention/view.js";

// Sentences by the browser's own rules, where it has them; else lines.
export function sentences(text, language) {
  const pieces = globalThis.Intl?.Segmenter
    ? [...new Intl.Segmenter(language || "en", { granularity: "sentence" }).segment(text)].map(({ segment }) => segment)
    : text.split("\n");
  return pieces.flatMap((piece) => piece.split("\n")).map((piece) => piece.trim()).filter(Boolean);
}

export function look({ button, inside, box, select, status, root, speech, tell }) {
  const view = attentionView(root, (...given) => speech()(...given));
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
    const t = speech();
    button.setAttribute("aria-expanded", String(open()));
    button.textContent = t(open() ? "look.close" : "look.open");
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
    const t = speech();
    const chosen = Math.max(0, select.selectedIndex);
    const found = list();
    select.selectedIndex = Math.min(chosen, found.length - 1);
    const q = found[select.selectedIndex];
    if (!q) {
      root.replaceChildren();
      shown = "";
      status.textContent = t("look.empty");
      return;
    }
    const { source, target } = given;
    const asked = { q, source, target, ...(found.length === 1 && given.translation ? { translation: given.translation } : {}) };
    const key = JSON.stringify(asked);
    if (key === shown) return;
    current?.abort();
    const mine = new AbortController();
    current = mine;
    status.textContent = shown ? "" : t("look.working");
    try {
      const answer = await attention(asked, mine.signal);
      if (current !== mine) return;
      shown = key;
      status.textContent = "";
      view.show(answer);
    } catch (error) {
      if (error.name === "AbortError" || current !== mine) return;
      shown = "";
      root.replaceChildren();
      status.textContent = tell(error);
    }
  }

  return {
    // A text and its translation; null where there is none.
    give(values) {
      given = values;
      update();
    },
    speak() {
      name();
      if (open() && shown) view.speak((...words) => speech()(...words));
      else update();
    },
    redraw: () => open() && shown && view.redraw(),
  };
}
