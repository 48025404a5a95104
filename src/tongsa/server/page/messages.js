// What went wrong, told kindly: what it is, that nothing is lost, and when it is tried again.

import { el } from "./kit/attention/dom.js";

const PATIENCE = 5;

export function messages(box) {
  let timer = null;
  let again = null;

  function clear() {
    clearInterval(timer);
    timer = again = null;
    box.hidden = true;
    box.replaceChildren();
  }

  function put(text, bad, ...more) {
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

  // `retry` is called when the time is up, or at once when the reader asks.
  function tell(trouble, t, retry) {
    if (trouble.kind === "refused") return put(t("error.refused", { message: trouble.message }), true);
    if (trouble.kind === "key") return put(t("error.key"), true);
    if (trouble.kind === "offline") {
      put(t("error.offline"), false, button(t));
      again = retry;
      return undefined;
    }
    let left = Math.ceil(trouble.kind === "busy" ? trouble.seconds : PATIENCE);
    const words = () => (trouble.kind === "busy" ? t("error.busy", { seconds: left }) : t(`error.${trouble.kind}`));
    put(words(), trouble.kind !== "busy", button(t));
    again = retry;
    const shown = box.firstChild;
    timer = setInterval(() => {
      left -= 1;
      if (left <= 0) now();
      else if (trouble.kind === "busy") {
        box.setAttribute("aria-live", "off"); // said once; the seconds are for the eye
        shown.textContent = words();
      }
    }, 1000);
    box.removeAttribute("aria-live");
    return undefined;
  }

  addEventListener("online", () => again && now());
  return { tell, clear, put };
}
