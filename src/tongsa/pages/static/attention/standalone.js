// A file of its own: the data stand in the page, in an element that browsers do not execute.

import { ATTENTION_TEXTS } from "./texts.js";
import { attentionView } from "./view.js";
import { preferred, speaker } from "../language.js";

const language = preferred();
const view = attentionView(document.getElementById("view"), speaker(language, ATTENTION_TEXTS));
document.documentElement.lang = language;
view.show(JSON.parse(document.getElementById("data").textContent));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.redraw());
addEventListener("beforeprint", () => view.redraw());
