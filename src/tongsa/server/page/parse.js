"use strict";
// Asks for the trees of the text; kit.js shows what a bracket attended to.
(() => {
  const form = document.getElementById("ask");
  const refused = document.getElementById("refused");
  const parsed = document.getElementById("parsed");

  const figure = ({ tree, svg }) => {
    const made = document.createElement("figure");
    made.className = "parsed";
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(document.adoptNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement));
    const code = document.createElement("code");
    code.textContent = tree;
    made.append(scroll, code);
    return made;
  };

  const ask = async () => {
    const body = JSON.stringify(Object.fromEntries(new FormData(form)));
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch("/api/parse", { method: "POST", headers, body });
    const values = await answer.json();
    if (!answer.ok) throw new Error(values.error);
    parsed.replaceChildren(...values.sentences.map(figure));
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    refused.hidden = true;
    try {
      await ask();
    } catch (error) {
      refused.textContent = error.message;
      refused.hidden = false;
    }
    button.disabled = false;
  });
})();
