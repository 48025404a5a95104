// Elements are made, never parsed: text can only ever become text.

export const SVG = "http://www.w3.org/2000/svg";
export const MATH = "http://www.w3.org/1998/Math/MathML";

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

export function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

export function math(name, ...children) {
  return filled(document.createElementNS(MATH, name), {}, children);
}

let count = 0;

export function freshId(stem) {
  count += 1;
  return `${stem}-${count}`;
}

// A group of native radio buttons: arrow keys, labels and screen readers work by themselves.
// options: [{value, content, title, disabled}]
export function radios({ name, label, options, value, choose, kind }) {
  const group = freshId(name);
  const legend = el("legend", {}, label);
  const items = options.map((option) => {
    const input = el("input", {
      type: "radio",
      name: group,
      value: option.value,
      checked: option.value === value,
      disabled: option.disabled,
      onchange: () => choose(option.value),
    });
    return el("label", { title: option.title, "data-value": option.value }, input, el("span", { class: "face" }, option.content));
  });
  return el("fieldset", { class: `av-radios ${kind}` }, legend, el("div", { class: "av-options" }, items));
}
