// A file of its own: the data stand in the page, in an element that browsers do not execute.

import { attentionView } from "./view.js";
import { preferred, speaker } from "../i18n.js";

const language = preferred();
const view = attentionView(document.getElementById("view"), speaker(language));
document.documentElement.lang = language;
view.show(JSON.parse(document.getElementById("data").textContent));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.redraw());
addEventListener("beforeprint", () => view.redraw());
