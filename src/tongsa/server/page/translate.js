// The two panes: translates what is typed, and ignores answers that are out of date.

import { translate } from "./api.js";
import { doubts, words } from "./confidence.js";
import { el } from "./kit/attention/dom.js";

const WAIT = 300;
const COMPOSING = 700; // while a syllable is being composed, wait longer

export function translationPanes({ source, target, status, count, detected, via, doubted, copy, clear, switcher, keys, alternatives, languages, messages, texts, translated }) {
  let timer = null;
  let current = null;
  let answer = null;
  let wait = WAIT;
  let limit = -1;

  source.addEventListener("input", (event) => {
    measure();
    schedule(event.isComposing ? COMPOSING : wait);
  });
  source.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  clear.addEventListener("click", () => {
    source.value = "";
    measure();
    run();
    source.focus();
  });
  switcher.addEventListener("change", mark);
  copy.addEventListener("click", copied);

  function schedule(delay) {
    current?.abort();
    clearTimeout(timer);
    timer = setTimeout(run, delay);
  }

  function measure() {
    const t = texts();
    const length = [...source.value].length;
    const shown = { count: length.toLocaleString(), limit: limit.toLocaleString() };
    count.textContent = limit >= 0 ? t("source.countOf", shown) : t("source.count", shown);
    count.classList.toggle("over", limit >= 0 && length > limit);
    clear.hidden = !length;
    return limit < 0 || length <= limit;
  }

  async function run() {
    clearTimeout(timer);
    current?.abort();
    messages.clear();
    const q = source.value;
    if (!q.trim()) return show(null);
    if (!measure()) return messages.show(texts()("source.tooLong", { limit: limit.toLocaleString() }), true);
    const pair = languages.pair();
    if (!pair.target) return undefined;
    const mine = new AbortController();
    current = mine;
    target.classList.add("stale");
    target.setAttribute("aria-busy", "true");
    if (!answer) target.replaceChildren(el("span", { class: "waiting" }, texts()("target.working")));
    try {
      const found = await translate({ q, ...pair }, mine.signal);
      if (current === mine) show({ ...found, q, ...pair });
    } catch (error) {
      if (error.name === "AbortError" || current !== mine) return undefined;
      idle();
      if (!answer) show(null);
      messages.explain(error, texts(), run);
    }
    return undefined;
  }

  function idle() {
    target.classList.remove("stale");
    target.setAttribute("aria-busy", "false");
  }

  function show(found) {
    answer = found;
    idle();
    const t = texts();
    const guess = found?.detectedLanguage;
    detected.textContent = guess ? t("lang.detected", { language: languages.name(guess.language), confidence: Math.round(guess.confidence) }) : "";
    languages.detect(guess?.language ?? null);
    via.textContent = found?.via?.length ? t("target.via", { language: found.via.map(languages.name).join(", ") }) : "";
    source.lang = languages.actual() ?? "";
    target.lang = found ? found.target : document.documentElement.lang;
    draw(found ? found.translatedText : null, found?.confidence?.words ?? []);
    offer(found?.alternatives ?? []);
  }

  function draw(text, list) {
    const t = texts();
    const exact = list.map((word) => word.text).join("") === text;
    if (text === null) target.replaceChildren(el("span", { class: "waiting" }, t("target.waiting")));
    else target.replaceChildren(...(exact ? words(list, t) : [text]));
    copy.disabled = !text;
    doubted.textContent = exact && switcher.checked ? doubts(list, t) : "";
    mark();
    translated(answer && text ? { q: answer.q, source: languages.actual() ?? answer.source, target: answer.target, translation: text } : null);
  }

  function mark() {
    target.classList.toggle("confident", switcher.checked);
    keys.hidden = !switcher.checked;
    doubted.textContent = switcher.checked && answer?.confidence ? doubts(answer.confidence.words ?? [], texts()) : "";
  }

  // Choosing an alternative swaps it with the translation shown.
  function offer(list) {
    const t = texts();
    const others = [...new Set(list)].filter((text) => text !== target.textContent);
    alternatives.hidden = !others.length;
    const shown = new Set(target.textContent.split(/\s+/));
    alternatives.querySelector("ul").replaceChildren(
      ...others.map((text) =>
        el("li", {}, el("button", { type: "button", lang: answer.target, dir: "auto", "aria-label": t("alternatives.use", { text }), onclick: () => take(text, others) },
          text.split(/(\s+)/).map((part) => (!part.trim() || shown.has(part) ? part : el("mark", {}, part))))),
      ),
    );
  }

  function take(text, others) {
    const before = target.textContent;
    const own = text === answer.translatedText ? answer.confidence?.words ?? [] : [];
    draw(text, own);
    offer([before, ...others.filter((each) => each !== text)]);
    target.focus();
  }

  async function copied() {
    const t = texts();
    try {
      await navigator.clipboard.writeText(target.textContent);
    } catch {
      return messages.show(t("target.noCopy"), false);
    }
    const label = copy.querySelector("span");
    copy.classList.add("done");
    label.textContent = status.textContent = t("target.copied");
    setTimeout(() => {
      copy.classList.remove("done");
      label.textContent = texts()("target.copy");
      status.textContent = "";
    }, 1800);
    return undefined;
  }

  return {
    run,
    configure(settings) {
      limit = settings.charLimit ?? -1;
      wait = Math.min(1500, Math.max(150, settings.frontendTimeout || WAIT));
    },
    swap() {
      if (answer) source.value = target.textContent;
      answer = null;
      measure();
      run();
    },
    localize() {
      measure();
      show(answer);
    },
  };
}
