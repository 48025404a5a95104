// The choice of the two languages.

import { el } from "./kit/attention/dom.js";
import { languageName, remember, remembered } from "./texts.js";

const AUTO = "auto";

export function languageChoice({ from, to, swap, changed, swapped }) {
  let known = [];
  let t = null;
  let language = "en";
  let detected = null;

  function name(code) {
    return languageName(code, known.find((each) => each.code === code)?.name ?? code, language);
  }

  function targets(source) {
    const able = source === AUTO ? known.flatMap((each) => each.targets) : known.find((each) => each.code === source)?.targets ?? [];
    return [...new Set(able)].filter((code) => code !== source);
  }

  function fill(select, codes, chosen) {
    select.replaceChildren(...codes.map((code) => el("option", { value: code }, code === AUTO ? t("lang.auto") : name(code))));
    select.value = codes.includes(chosen) ? chosen : codes[0] ?? "";
  }

  function draw(source, target) {
    fill(from, [AUTO, ...known.filter((each) => each.targets.length).map((each) => each.code)], source);
    fill(to, targets(from.value), target);
    mark();
  }

  function actual() {
    return from.value === AUTO ? detected : from.value;
  }

  function mark() {
    const back = actual();
    const able = Boolean(back) && targets(to.value).includes(back);
    swap.disabled = !able;
    const words = able || !back ? t("lang.swap") : t("lang.noSwap");
    swap.title = words;
    swap.setAttribute("aria-label", words);
    to.lang = from.lang = language;
  }

  function settle() {
    remember("tongsa.from", from.value);
    remember("tongsa.to", to.value);
    mark();
    changed();
  }

  from.addEventListener("change", () => {
    detected = null;
    fill(to, targets(from.value), to.value);
    settle();
  });
  to.addEventListener("change", settle);
  swap.addEventListener("click", () => {
    const [source, target] = [to.value, actual()];
    detected = null;
    draw(source, target);
    remember("tongsa.from", from.value);
    remember("tongsa.to", to.value);
    swapped();
  });

  return {
    fill(list, preset) {
      known = list;
      draw(remembered("tongsa.from") || preset.source, remembered("tongsa.to") || preset.target);
    },
    localize(words, code) {
      [t, language] = [words, code];
      if (known.length) draw(from.value, to.value);
    },
    detect(code) {
      detected = code;
      mark();
    },
    pair: () => ({ source: from.value, target: to.value }),
    actual,
    name,
  };
}
