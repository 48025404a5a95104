// Asking for what takes a moment: the newest question counts, and what is shown says how it stands.
//
// `ask` is what a page offers: `ask.experiments` names the experiments, and `ask.intervene(change)`, `ask.beam(width)`,
// `ask.training(update)` and `ask.numbers(head)` answer with promises. A server computes the answers; a file has them in it.

import { el } from "./dom.js";

export function asking({ ask, t }) {
  const status = el("p", { class: "av-status", role: "status" });
  let newest = 0;

  // Resolves to the answer, or to null when a newer question was asked or there is no answer; `status` says why.
  async function run(question) {
    newest += 1;
    const mine = newest;
    const slow = setTimeout(() => { if (mine === newest) status.textContent = t("ex.working"); }, 250);
    try {
      const answer = await question();
      if (mine !== newest) return null;
      status.textContent = "";
      return answer;
    } catch (error) {
      if (mine === newest) status.textContent = ask.explain(error, t);
      return null;
    } finally {
      clearTimeout(slow);
    }
  }

  return { status, run, cancel: () => { newest += 1; status.textContent = ""; } };
}

export function fixed(value, digits = 2) {
  return value.toFixed(digits).replace("-", "−");
}
