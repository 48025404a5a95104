// The page: every part is made here and told of the others.

import { Trouble, languages as askLanguages, settings as askSettings, useKey } from "./api.js";
import { el } from "./kit/attention/dom.js";
import { desk } from "./desk.js";
import { files } from "./files.js";
import { LANGUAGES, preferred, remember, remembered, speaker } from "./i18n.js";
import { languageChoice } from "./languages.js";
import { look } from "./look.js";
import { messages } from "./messages.js";

const $ = (id) => document.getElementById(id);
let language = preferred();
let t = speaker(language);
const speech = () => t;

const told = messages($("message"));
const languages = languageChoice({
  from: $("from"), to: $("to"), swap: $("swap"), changed: () => work.run(), swapped: () => work.swap(),
});
const inside = look({
  button: $("look"), inside: $("look-inside"), box: $("sentences-box"), select: $("sentences"), status: $("look-status"),
  root: $("attention"), speech, tell: words,
});
const work = desk({
  source: $("source"), target: $("target"), status: $("status"), count: $("count"), detected: $("detected"), via: $("via"),
  doubted: $("doubts"), copy: $("copy"), clear: $("clear"), switcher: $("confidence"), keys: $("keys"),
  alternatives: $("alternatives"), languages, messages: told, speech, translated: (values) => inside.give(values),
});
const paper = files({
  chooser: $("choose"), input: $("file"), overlay: $("drop"), box: $("files"), speech, pair: languages.pair, trouble: words,
});

// What went wrong, in a sentence.
function words(error) {
  if (!(error instanceof Trouble)) return t("error.server");
  if (error.kind === "refused") return error.message;
  return t(`error.${error.kind}`, { seconds: Math.ceil(error.seconds) });
}

function speak() {
  document.documentElement.lang = language;
  document.title = t("page.title");
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  $("source").placeholder = t("source.placeholder");
  languages.speak(t, language);
  work.speak();
  paper.speak(t);
  inside.speak();
}

const chooser = $("interface");
chooser.append(...Object.entries(LANGUAGES).map(([code, name]) => el("option", { value: code, lang: code }, name)));
chooser.value = language;
chooser.addEventListener("change", () => {
  language = chooser.value;
  t = speaker(language);
  remember("tongsa.language", language);
  speak();
});

const theme = $("theme");
theme.value = remembered("tongsa.theme") || "auto";
theme.addEventListener("change", () => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  remember("tongsa.theme", theme.value);
  inside.redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => inside.redraw());

const switcher = $("confidence");
switcher.checked = remembered("tongsa.confidence") !== "no";
switcher.addEventListener("change", () => remember("tongsa.confidence", switcher.checked ? "yes" : "no"));

$("key").addEventListener("change", () => {
  useKey($("key").value.trim());
  work.run();
});

$("key-box").addEventListener("submit", (event) => event.preventDefault());

async function begin() {
  try {
    const [known, settings] = await Promise.all([askLanguages(), askSettings()]);
    if (!known.some((each) => each.targets.length)) {
      told.put(t("error.none"), true);
      return;
    }
    $("key-box").hidden = !settings.keyRequired;
    work.allow(settings);
    paper.allow(settings);
    languages.fill(known, { source: settings.language?.source?.code ?? "auto", target: settings.language?.target?.code ?? "" });
    paper.speak(t);
    work.speak();
    if ($("source").value.trim()) work.run();
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    told.tell(error, t, begin);
  }
}

speak();
begin();
