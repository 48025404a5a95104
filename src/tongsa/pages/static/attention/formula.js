// Equation 1 of the paper, and what its letters are in the kind that is shown.

import { el, math } from "./dom.js";

const mi = (name) => math("mi", name);
const mo = (name) => math("mo", name);

// A bracket as high as the letters beside it; others grow with what stands in the same row.
const small = (name) => {
  const made = mo(name);
  made.setAttribute("stretchy", "false");
  return made;
};

function word(name) {
  const made = math("mi", name);
  made.setAttribute("mathvariant", "normal");
  return made;
}

const letter = (name) => {
  const made = mi(name);
  made.setAttribute("class", `av-${name}`);
  return made;
};

export function formula() {
  const root = math("math");
  root.setAttribute("display", "block");
  const product = math("mrow", letter("Q"), math("msup", letter("K"), word("T")));
  const scale = math("msqrt", math("msub", mi("d"), mi("k")));
  root.append(
    math(
      "mrow",
      word("Attention"), small("("), letter("Q"), mo(","), letter("K"), mo(","), letter("V"), small(")"),
      mo("="),
      math("mrow", word("softmax"), mo("("), math("mfrac", product, scale), mo(")")),
      letter("V"),
    ),
  );
  return root;
}

// PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), and cosines for odd dimensions.
export function sinusoids() {
  const line = (index, wave) => {
    const root = math("math");
    root.setAttribute("display", "block");
    const exponent = math("mrow", math("mn", "2"), mi("i"), mo("/"), math("msub", mi("d"), word("model")));
    root.append(
      math(
        "mrow",
        math("msub", word("PE"), math("mrow", small("("), word("pos"), mo(","), ...index, small(")"))),
        mo("="),
        word(wave), small("("), word("pos"), mo("/"), math("msup", math("mn", "10000"), exponent), small(")"),
      ),
    );
    return root;
  };
  const even = [math("mn", "2"), mi("i")];
  const odd = [math("mn", "2"), mi("i"), mo("+"), math("mn", "1")];
  return el("div", {}, line(even, "sin"), line(odd, "cos"));
}
