// File translation: files are dropped on the page or chosen, one at a time.

import { translateFile } from "./api.js";
import { el } from "./kit/attention/dom.js";

export function fileTranslation({ chooser, input, overlay, box, texts, pair, errorText }) {
  let formats = [];
  let current = null;
  let depth = 0;

  const carries = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

  chooser.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    if (input.files.length) take([...input.files]);
    input.value = "";
  });
  addEventListener("dragenter", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth += 1;
    overlay.hidden = false;
  });
  addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  addEventListener("dragleave", (event) => {
    if (!carries(event)) return;
    depth = Math.max(0, depth - 1);
    overlay.hidden = depth === 0;
  });
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth = 0;
    overlay.hidden = true;
    if (event.dataTransfer.files.length && !chooser.hidden) take([...event.dataTransfer.files]);
  });

  function show(text, ...more) {
    box.hidden = false;
    box.replaceChildren(el("div", { class: "file", role: "status" }, more[0] ?? null, el("p", {}, text), ...more.slice(1)));
  }

  function closing(label, act) {
    return el("button", { type: "button", class: "plain end", onclick: act }, label);
  }

  function close() {
    current?.abort();
    current = null;
    box.hidden = true;
    box.replaceChildren();
    chooser.focus();
  }

  function suffix(name) {
    const dot = name.lastIndexOf(".");
    return dot < 0 ? "" : name.slice(dot).toLowerCase();
  }

  async function take([file, ...others]) {
    const t = texts();
    current?.abort();
    if (formats.length && !formats.includes(suffix(file.name))) {
      return show(t("file.wrongKind", { suffix: suffix(file.name) || file.name, formats: formats.join(" ") }), null, closing(t("file.remove"), close));
    }
    const mine = new AbortController();
    current = mine;
    const taken = others.length ? ` ${t("file.one", { name: file.name })}` : "";
    show(t("file.working", { name: file.name }) + taken, el("span", { class: "spinner", "aria-hidden": "true" }), closing(t("file.cancel"), close));
    try {
      const { source, target } = pair();
      const url = await translateFile(file, source, target, mine.signal);
      if (current !== mine) return undefined;
      const named = `${file.name.slice(0, file.name.length - suffix(file.name).length)}.${target}${suffix(file.name)}`;
      const link = el("a", { class: "strong", href: url, download: named }, t("file.download"));
      show(t("file.done", { name: file.name }), null, link, closing(t("file.remove"), close));
      link.focus({ preventScroll: true });
    } catch (error) {
      if (error.name === "AbortError" || current !== mine) return undefined;
      show(`${t("file.failed", { name: file.name })} ${errorText(error)}`, null,
        el("button", { type: "button", class: "plain", onclick: () => take([file]) }, t("error.now")),
        closing(t("file.remove"), close));
    }
    return undefined;
  }

  return {
    configure(settings) {
      chooser.hidden = settings.filesTranslation === false;
      formats = (settings.supportedFilesFormat ?? []).map((each) => each.toLowerCase());
      input.accept = formats.join(",");
    },
    localize(t) {
      chooser.title = formats.length ? t("file.formats", { formats: formats.join(" ") }) : "";
    },
  };
}
