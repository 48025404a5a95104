// Connects the parts of the page.

import { ApiError, languages as fetchLanguages, settings as fetchSettings, useKey } from "./api.js";
import { el } from "./kit/attention/dom.js";
import { attentionPanel } from "./attention.js";
import { fileTranslation } from "./files.js";
import { languageChoice } from "./languages.js";
import { messageBox } from "./messages.js";
import { LANGUAGES, preferred, remember, remembered, textsIn } from "./texts.js";
import { translationPanes } from "./translate.js";

const $ = (id) => document.getElementById(id);
let language = preferred();
let t = textsIn(language);
const texts = () => t;

const messages = messageBox($("message"));
const languages = languageChoice({
  from: $("from"), to: $("to"), swap: $("swap"), changed: () => panes.run(), swapped: () => panes.swap(),
});
const attention = attentionPanel({
  button: $("show-attention"), inside: $("attention-body"), box: $("sentences-box"), select: $("sentences"), status: $("attention-status"),
  root: $("attention-view"), texts, errorText,
});
const panes = translationPanes({
  source: $("source"), target: $("target"), status: $("status"), count: $("count"), detected: $("detected"), via: $("via"),
  doubted: $("doubts"), copy: $("copy"), clear: $("clear"), switcher: $("confidence"), keys: $("keys"),
  alternatives: $("alternatives"), languages, messages, texts, translated: (values) => attention.setTranslation(values),
});
const documents = fileTranslation({
  chooser: $("choose"), input: $("file"), overlay: $("drop"), box: $("files"), texts, pair: languages.pair, errorText,
});

// An error in a sentence.
function errorText(error) {
  if (!(error instanceof ApiError)) return t("error.server");
  if (error.kind === "refused") return error.message;
  return t(`error.${error.kind}`, { seconds: Math.ceil(error.seconds) });
}

function localize() {
  document.documentElement.lang = language;
  document.title = t("page.title");
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  $("source").placeholder = t("source.placeholder");
  languages.localize(t, language);
  panes.localize();
  documents.localize(t);
  attention.localize();
}

const chooser = $("interface");
chooser.append(...Object.entries(LANGUAGES).map(([code, name]) => el("option", { value: code, lang: code }, name)));
chooser.value = language;
chooser.addEventListener("change", () => {
  language = chooser.value;
  t = textsIn(language);
  remember("tongsa.language", language);
  localize();
});

const theme = $("theme");
theme.value = remembered("tongsa.theme") || "auto";
theme.addEventListener("change", () => {
  if (theme.value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  remember("tongsa.theme", theme.value);
  attention.redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => attention.redraw());

const switcher = $("confidence");
switcher.checked = remembered("tongsa.confidence") !== "no";
switcher.addEventListener("change", () => remember("tongsa.confidence", switcher.checked ? "yes" : "no"));

$("key").addEventListener("change", () => {
  useKey($("key").value.trim());
  panes.run();
});

$("key-box").addEventListener("submit", (event) => event.preventDefault());

async function begin() {
  try {
    const [known, settings] = await Promise.all([fetchLanguages(), fetchSettings()]);
    if (!known.some((each) => each.targets.length)) {
      messages.show(t("error.none"), true);
      return;
    }
    $("key-box").hidden = !settings.keyRequired;
    panes.configure(settings);
    documents.configure(settings);
    languages.fill(known, { source: settings.language?.source?.code ?? "auto", target: settings.language?.target?.code ?? "" });
    documents.localize(t);
    panes.localize();
    if ($("source").value.trim()) panes.run();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    messages.explain(error, t, begin);
  }
}

localize();
begin();
