// Lines over a logarithmic axis, drawn as SVG; hover and arrow keys show the values at a place.

import { announce, element, fill } from "./dom.js";
import { linear, logTicks, logarithmic, roundTicks } from "./scale.js";

const MARGIN = { top: 14, right: 32, bottom: 46, left: 58 };
const MARKS = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  "M-3.6-3.6h7.2v7.2h-7.2z",
  "M0-5L5 0L0 5L-5 0z",
  "M0-4.8L4.6 3.6H-4.6z",
];

// The options of a chart are the labels of its axes (`x` and `y`) and how to format values:
// `tell(value)`.
export function lineChart({ label, x, tellX }) {
  let lines = []; // { name, points: [[x, y]], own }, with ascending x
  let places = []; // all x, ascending
  let at = -1;
  let y = "";
  let tellY = String;
  const svg = draw("svg", { "aria-hidden": "true" });
  const told = element("p", { class: "told" });
  const box = element("div", { "class": "plot", "tabindex": "0", "role": "group", "aria-label": label }, svg);
  const root = element("div", { class: "chart" }, told, box);
  let scaleX = null;
  let cursor = null;

  function render() {
    const width = Math.max(260, box.clientWidth);
    const height = Math.round(Math.min(420, Math.max(260, width * 0.42)));
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    svg.replaceChildren();
    if (places.length === 0) return;
    const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
    const [first, last] = [places[0], Math.max(places.at(-1), places[0] * 1.01)];
    const ticksY = roundTicks(Math.max(...lines.flatMap((one) => one.points.map(([, value]) => value))) || 1, 6);
    scaleX = logarithmic(first, last, MARGIN.left, right);
    const scaleY = linear(0, ticksY.at(-1), bottom, MARGIN.top);
    for (const value of ticksY) {
      const place = scaleY(value);
      svg.append(
        draw("line", { class: "rule", x1: MARGIN.left, x2: right, y1: place, y2: place }),
        text(tellY(value), { "x": MARGIN.left - 8, "y": place + 4, "text-anchor": "end" }),
      );
    }
    for (const value of logTicks(first, last, Math.max(2, Math.floor((right - MARGIN.left) / 72)))) {
      const place = scaleX(value);
      svg.append(
        draw("line", { class: "tick", x1: place, x2: place, y1: bottom, y2: bottom + 5 }),
        text(tellX(value), { "x": place, "y": bottom + 19, "text-anchor": "middle" }),
      );
    }
    svg.append(
      draw("line", { class: "axis", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }),
      text(x, { "class": "name", "x": (MARGIN.left + right) / 2, "y": height - 6, "text-anchor": "middle" }),
      text(y, {
        "class": "name",
        "transform": `translate(14 ${(MARGIN.top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle",
      }),
    );
    cursor = draw("line", { class: "cursor", x1: 0, x2: 0, y1: MARGIN.top, y2: bottom });
    svg.append(cursor);
    lines.forEach(({ series, points, own }) => {
      const line = points.map(([px, py]) => `${scaleX(px)} ${scaleY(py)}`).join("L");
      const group = draw("g", { class: `s${series % 6}` }, draw("path", { class: "line", d: `M${line}` }));
      points.forEach(([px, py]) => {
        const shown = mark(series, `translate(${scaleX(px)} ${scaleY(py)})${px === own ? " scale(1.9)" : ""}`);
        if (px === own) shown.classList.add("own");
        group.append(shown);
      });
      svg.append(group);
    });
    look(at);
  }

  function look(i) {
    at = Math.min(i, places.length - 1);
    cursor?.classList.toggle("there", at >= 0);
    if (at < 0) {
      fill(told, "Point at the chart, or use the arrow keys, to see values.");
      return "";
    }
    const place = scaleX(places[at]);
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    const found = lines.flatMap((one) => {
      const point = one.points.find(([px]) => px === places[at]);
      return point ? [[one, tellY(point[1])]] : [];
    });
    fill(
      told,
      element("b", {}, tellX(places[at])),
      ...found.map(([one, value]) =>
        element("span", { class: "value" }, swatch(one.series), element("b", {}, value), ` ${one.name}`),
      ),
    );
    return `${tellX(places[at])}: ${found.map(([one, value]) => `${one.name} ${value} ${y}`).join(", ")}`;
  }

  box.addEventListener("pointermove", (event) => {
    if (scaleX === null || places.length === 0) return;
    const pixel = event.clientX - svg.getBoundingClientRect().left;
    const away = places.map((value) => Math.abs(scaleX(value) - pixel));
    look(away.indexOf(Math.min(...away)));
  });
  box.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: at + 1, ArrowLeft: Math.max(0, at - 1), Home: 0, End: places.length - 1 };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (places.length) announce(look(steps[event.key]));
  });
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth === width || box.clientWidth === 0) return;
    width = box.clientWidth;
    render();
  }).observe(box);

  return {
    root,
    // Sets the label of the y axis, the format of its values, and the lines.
    show({ name, tell, of }) {
      [y, tellY, lines] = [name, tell, of];
      places = [...new Set(lines.flatMap((one) => one.points.map(([px]) => px)))].sort((a, b) => a - b);
      render();
    },
  };
}

// The mark of a line, for a legend.
export function swatch(series) {
  const svg = draw("svg", { "class": `swatch s${series % 6}`, "viewBox": "-6 -6 12 12", "aria-hidden": "true" });
  svg.append(mark(series, "translate(0 0)"));
  return svg;
}

function mark(series, transform) {
  return draw("path", { class: "mark-of", d: MARKS[series % MARKS.length], transform });
}

function text(value, attributes) {
  return draw("text", attributes, value);
}

function draw(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
