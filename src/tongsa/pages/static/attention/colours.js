// Colours come from the style sheet, so that light and dark paper each have their own.

function rgb(text) {
  const hex = text.trim().replace("#", "");
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function between(stops, place) {
  const reach = place * (stops.length - 1);
  const first = Math.min(Math.floor(reach), stops.length - 2);
  const part = reach - first;
  return stops[first].map((value, i) => Math.round(value + (stops[first + 1][i] - value) * part));
}

function stops(node, names) {
  const style = getComputedStyle(node);
  return names.map((name) => rgb(style.getPropertyValue(name)));
}

// Weights from 0 to 1. Ink grows with the square root, so that small weights are seen as well.
export function inks(node) {
  const colours = stops(node, ["--heat-0", "--heat-1", "--heat-2", "--heat-3", "--heat-4"]);
  const table = Array.from({ length: 256 }, (_, i) => between(colours, i / 255));
  return (weight) => table[Math.round(255 * Math.sqrt(Math.min(1, Math.max(0, weight))))];
}

// Values from -1 to 1, around the paper's own colour.
export function waves(node) {
  const colours = stops(node, ["--wave-low", "--heat-0", "--wave-high"]);
  const table = Array.from({ length: 256 }, (_, i) => between(colours, i / 255));
  return (value) => table[Math.round(127.5 * (1 + Math.min(1, Math.max(-1, value))))];
}

export function css([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

// A picture with a pixel for each value: the style sheet makes it large.
export function pixels(canvas, rows, colour) {
  canvas.width = rows[0].length;
  canvas.height = rows.length;
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  let at = 0;
  for (const row of rows) {
    for (const value of row) {
      const [red, green, blue] = colour(value);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = 255;
      at += 4;
    }
  }
  context.putImageData(image, 0, 0);
}
