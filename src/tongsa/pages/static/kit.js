"use strict";
// Hovering and choosing; the page can be read without.
(() => {
  const tip = document.getElementById("tip");
  const show = (event, text) => {
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8)) + "px";
    tip.style.top = Math.max(4, event.clientY - height - 12) + "px";
  };
  const hide = () => { tip.hidden = true; };
  const element = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const within = (svg, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  for (const title of document.querySelectorAll(".mark title, rect title")) title.remove();

  for (const figure of document.querySelectorAll("figure.chart")) {
    const script = figure.querySelector("script");
    const svg = figure.querySelector("svg");
    if (!script) {
      svg.addEventListener("pointermove", (event) => {
        const text = event.target.dataset.tip;
        if (text) show(event, text); else hide();
      });
      svg.addEventListener("pointerleave", hide);
      continue;
    }
    const lines = JSON.parse(script.textContent).filter((line) => line.points.length);
    const cursor = svg.querySelector(".cursor");
    svg.addEventListener("pointermove", (event) => {
      const { x } = within(svg, event);
      const nearest = lines.map((line) => line.points.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a)));
      const main = nearest.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a));
      const near = (point) => Math.abs(point[0] - main[0]) < 12;
      cursor.replaceChildren(
        element("path", { d: `M${main[0]} ${cursor.dataset.top}V${cursor.dataset.bottom}` }),
        ...nearest.flatMap((point, i) => near(point) ? [element("circle", { class: lines[i].kind, cx: point[0], cy: point[1], r: 4 })] : []),
      );
      show(event, [main[2], ...nearest.flatMap((point, i) => near(point) ? [`${lines[i].name} ${point[3]}`] : [])].join("\n"));
    });
    svg.addEventListener("pointerleave", () => { cursor.replaceChildren(); hide(); });
  }

  // A bracket of a tree inks the words that it attended to. On the document, so that trees may be added later.
  const inked = (event) => {
    const node = event.target.closest?.("[data-weights]");
    for (const ink of document.querySelectorAll(".tree .ink")) ink.style.fillOpacity = 0;
    if (!node) return;
    const inks = node.parentElement.querySelectorAll(".ink");
    node.dataset.weights.split(" ").forEach((weight, i) => { inks[i].style.fillOpacity = Math.sqrt(weight); });
  };
  document.addEventListener("pointerover", inked);
  document.addEventListener("focusin", inked);

  // Steps: a part shows from data-from to data-to; without a script all parts show.
  for (const stepper of document.querySelectorAll(".stepper")) {
    const parts = [...stepper.querySelectorAll("[data-from]")];
    const controls = stepper.querySelector(".controls");
    const [range, play] = [controls.querySelector("input"), controls.querySelector("[data-play]")];
    let timer = 0;
    const draw = () => {
      const at = Number(range.value);
      for (const part of parts) part.hidden = at < Number(part.dataset.from) || at > Number(part.dataset.to ?? Infinity);
      controls.querySelector("output").textContent = `${at} / ${range.max}`;
    };
    const pause = () => { clearInterval(timer); timer = 0; play.textContent = play.dataset.play; };
    const move = (by) => { range.value = Number(range.value) + by; draw(); };
    const toggle = () => {
      if (timer) return pause();
      if (range.value === range.max) range.value = range.min;
      draw();
      play.textContent = play.dataset.pause;
      timer = setInterval(() => { move(1); if (range.value === range.max) pause(); }, 900);
    };
    controls.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button === play) toggle();
      else if (button) { pause(); move(Number(button.dataset.by)); }
    });
    range.addEventListener("input", () => { pause(); draw(); });
    stepper.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.target.closest("button, input, a")) return;
      if (by) { pause(); move(by); } else if (event.key === " ") toggle(); else return;
      event.preventDefault();
    });
    controls.hidden = false;
    draw();
  }

  const weights = (image) => {
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data, width } = context.getImageData(0, 0, canvas.width, canvas.height);
    return (row, column) => (data[4 * (row * width + column) + 3] / 255) ** 2;
  };

  for (const panel of document.querySelectorAll(".attention")) {
    const map = panel.querySelector(".map");
    const texts = [...map.querySelectorAll("text")];
    const { left, top, cell, rows, columns } = Object.fromEntries(Object.entries(map.dataset).map(([key, value]) => [key, +value]));
    let button = panel.querySelector("[aria-pressed=true]");
    let read = null;
    panel.querySelector(".small").addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (!chosen) return;
      button.setAttribute("aria-pressed", "false");
      button = chosen;
      button.setAttribute("aria-pressed", "true");
      map.querySelector("image").setAttribute("href", button.querySelector("img").src);
      panel.querySelector(".which").textContent = button.dataset.name;
      read = null;
    });
    const leave = () => { for (const text of texts) text.classList.remove("on"); hide(); };
    map.addEventListener("pointermove", (event) => {
      const point = within(map, event);
      const column = Math.floor((point.x - left) / cell), row = Math.floor((point.y - top) / cell);
      leave();
      if (row < 0 || column < 0 || row >= rows || column >= columns) return;
      read = read || weights(button.querySelector("img"));
      const from = texts[row], to = texts[rows + column];
      from.classList.add("on");
      to.classList.add("on");
      show(event, `${from.textContent} → ${to.textContent}\nweight ${read(row, column).toFixed(3)}`);
    });
    map.addEventListener("pointerleave", leave);
  }
})();
