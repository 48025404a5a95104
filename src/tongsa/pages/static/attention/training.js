// The same sentence through the checkpoints of the training: its translation and its attention as they form.

import { asking, fixed } from "./asking.js";
import { KINDS, MEAN, mean, sides } from "./data.js";
import { el } from "./dom.js";
import { heatmap } from "./heatmap.js";

const STRIDE = 900; // milliseconds

// `kept`: {answers (by stop), updates, at, kind, layer, head}; it outlives this drawing.
export function overTraining({ data, ask, kept, room, t }) {
  const { status, run } = asking({ ask, t });
  const kinds = KINDS.filter((kind) => data[kind].length);
  const panel = el("div", { class: "tr-panel" });
  const table = el("ol", { class: "tr-list" });
  const picture = el("div", { class: "tr-picture" });
  const said = el("p", { class: "tr-said", "aria-live": "polite" });
  let slider = null;
  let playing = null;

  const stops = () => [...kept.updates, null];
  const label = (update) => (update === null ? t("tr.published") : t("tr.update", { update: update.toLocaleString("en") }));

  async function begin() {
    const found = kept.updates ? kept.answers.get(null) : await run(() => ask.training(null));
    if (!found) return;
    if (!kept.updates) {
      kept.updates = found.updates;
      kept.answers.set(null, found);
      kept.at = found.updates.length;
    }
    if (!kept.updates.length) {
      panel.replaceChildren(el("p", { class: "av-explain" }, t("tr.none")), el("pre", { class: "tr-command" }, "tongsa train ... --set training.snapshots=12"));
      return;
    }
    slider = el("input", {
      type: "range", min: 0, max: kept.updates.length, step: 1, value: kept.at, "aria-label": t("tr.slider"),
      oninput: () => { pause(); go(Number(slider.value)); },
    });
    const play = el("button", { type: "button", class: "av-play", onclick: () => (playing ? pause() : start(play)) }, t("tr.play"));
    panel.replaceChildren(
      el("div", { class: "tr-controls" }, play, el("label", { class: "av-slider" }, el("span", {}, t("tr.slider")), slider)),
      said,
      el("div", { class: "tr-columns" },
        el("figure", {}, el("figcaption", {}, el("b", {}, t("tr.attention")), ` ${t("tr.attentionNote")}`), ...(kinds.length ? [selects(), picture] : [])),
        el("figure", {}, el("figcaption", {}, el("b", {}, t("tr.translations")), ` ${t("tr.translationsNote")}`), table)));
    go(kept.at);
  }

  function selects() {
    const choice = (name, values, text) => {
      const select = el("select", {
        "aria-label": t(`tr.${name}`),
        onchange: () => { kept[name] = select.value === MEAN || name === "kind" ? select.value : Number(select.value); draw(); },
      }, values.map((value) => el("option", { value, selected: value === kept[name] }, text(value))));
      return select;
    };
    if (!kinds.includes(kept.kind)) kept.kind = kinds.includes("cross") ? "cross" : kinds[0];
    const layers = data[kept.kind].map((_, i) => i);
    if (!layers.includes(kept.layer)) kept.layer = layers.length - 1;
    return el("div", { class: "tr-selects" },
      choice("kind", kinds, (kind) => t(`av.kind.${kind}`)),
      choice("layer", layers, (layer) => t("av.layerTitle", { layer: layer + 1 })),
      choice("head", [MEAN, ...data[kept.kind][0].map((_, i) => i)], (head) => (head === MEAN ? t("av.meanTitle") : t("av.headTitle", { head: head + 1 }))));
  }

  async function go(at) {
    kept.at = at;
    slider.value = String(at);
    const update = stops()[at];
    slider.setAttribute("aria-valuetext", label(update));
    draw();
    if (!kept.answers.has(update)) {
      const found = await run(() => ask.training(update));
      if (!found) return;
      kept.answers.set(update, found);
      if (kept.at === at) draw();
    }
  }

  function draw() {
    const update = stops()[kept.at];
    const found = kept.answers.get(update);
    const today = kept.answers.get(null);
    said.replaceChildren(el("b", {}, label(update)), ...(found ? [": ", el("bdi", {}, found.translation || t("bt.empty")), " ",
      el("small", {}, t("tr.logP", { logP: fixed(found.log_probability), today: today.translation }))] : []));
    table.replaceChildren(...stops().flatMap((each, at) => (kept.answers.has(each)
      ? [el("li", { class: at === kept.at ? "now" : "" },
          el("button", { type: "button", onclick: () => { pause(); go(at); } }, label(each)), " ",
          el("bdi", {}, kept.answers.get(each).translation || t("bt.empty")))]
      : [])));
    if (!found || !kinds.length) return;
    const layer = found[kept.kind][Math.min(kept.layer, found[kept.kind].length - 1)];
    const rows = kept.head === MEAN ? mean(layer) : layer[Math.min(kept.head, layer.length - 1)];
    const titles = { queries: t(`av.queries.${kept.kind}`), keys: t(`av.keys.${kept.kind}`) };
    const name = `${t(`av.kind.${kept.kind}`)}, ${label(update)}`;
    const map = heatmap({ ...sides({ source: data.source, target: found.target }, kept.kind), rows, titles, label: name, room, follow: () => {}, masked: kept.kind === "decoder" });
    picture.replaceChildren(map.node);
  }

  function start(button) {
    const first = kept.at >= kept.updates.length ? 0 : kept.at;
    button.textContent = t("av.stop");
    playing = { button, going: true };
    const mine = playing;
    (async () => {
      for (let at = first; at <= kept.updates.length && mine.going && panel.isConnected; at += 1) {
        await go(at);
        await new Promise((done) => { setTimeout(done, STRIDE); });
      }
      if (mine === playing) pause();
    })();
  }

  function pause() {
    if (!playing) return;
    playing.going = false;
    playing.button.textContent = t("tr.play");
    playing = null;
  }

  begin();
  return el("div", { class: "tr" }, el("p", { class: "av-explain" }, t("tr.explain")), status, panel);
}
