// The message box: explains an error, and tries again.

import { el } from "./kit/attention/dom.js";

const PATIENCE = 5;

export function messageBox(box) {
  let timer = null;
  let again = null;

  function clear() {
    clearInterval(timer);
    timer = again = null;
    box.hidden = true;
    box.replaceChildren();
  }

  function show(text, bad, ...more) {
    clear();
    box.classList.toggle("bad", bad);
    box.hidden = false;
    box.append(el("p", {}, text), ...more);
  }

  function button(t) {
    return el("button", { type: "button", class: "plain", onclick: now }, t("error.now"));
  }

  function now() {
    const retry = again;
    clear();
    retry?.();
  }

  // Calls `retry` when the time is up, or when the button is pressed.
  function explain(error, t, retry) {
    if (error.kind === "refused") return show(t("error.refused", { message: error.message }), true);
    if (error.kind === "key") return show(t("error.key"), true);
    if (error.kind === "offline") {
      show(t("error.offline"), false, button(t));
      again = retry;
      return undefined;
    }
    let left = Math.ceil(error.kind === "busy" ? error.seconds : PATIENCE);
    const words = () => (error.kind === "busy" ? t("error.busy", { seconds: left }) : t(`error.${error.kind}`));
    show(words(), error.kind !== "busy", button(t));
    again = retry;
    const text = box.firstChild;
    timer = setInterval(() => {
      left -= 1;
      if (left <= 0) now();
      else if (error.kind === "busy") {
        box.setAttribute("aria-live", "off"); // screen readers announce it once, not every second
        text.textContent = words();
      }
    }, 1000);
    box.removeAttribute("aria-live");
    return undefined;
  }

  addEventListener("online", () => again && now());
  return { explain, clear, show };
}
