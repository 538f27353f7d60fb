// The curve of vocabulary size: the results of the smaller vocabularies inside each tokenizer.

import { latest } from "./ask.js";
import { lineChart, swatch } from "./chart.js";
import { choice, element, fill, number, problemLine, quiet, settled, several, textArea } from "./dom.js";
import { fileText, keep, kept, wellFormed } from "./reader.js";
import { table } from "./table.js";

const MOST = 1_000_000; // bytes of a file in a question, which is limited to 1 MiB
const percent = (value) => `${(100 * value).toFixed(1)}%`;
const MEASURES = new Map([
  ["bytes_per_token", ["bytes per token", (value) => value.toFixed(2)]],
  ["tokens", ["tokens", number]],
  ["coverage", ["characters not split between tokens", percent]],
  ["vocabulary_used", ["share of the vocabulary in use", percent]],
]);

export function curveView(tokenizers) {
  const asking = latest();
  let measure = "bytes_per_token";
  let found = null; // the answer, by tokenizer
  let measured = null; // the text of the answer
  const area = textArea({ id: "curve-text", rows: "5" });
  const file = element("input", { type: "file", id: "curve-file" });
  const note = element("p", { "class": "quiet", "role": "status" });
  const problem = problemLine();
  const show = choice("Show", [...MEASURES].map(([name, [title]]) => [name, title]), (value) => {
    measure = value;
    draw();
  });
  const chart = lineChart({
    label: "Curve of vocabulary size; the arrow keys go from one size to the next",
    x: "size of the vocabulary (logarithmic)",
    tellX: number,
  });
  const legend = element("ul", { class: "legend" });
  const listed = table("Every size of the curve");
  const results = element(
    "div",
    { class: "results", hidden: true },
    element("div", { class: "sheet" }, legend, chart.root),
    listed.root,
  );
  const root = element(
    "section",
    { "aria-label": "Curve" },
    element("label", { class: "title", for: "curve-text" }, "Text"),
    area,
    element(
      "div",
      { class: "bar" },
      element("label", { class: "field" }, element("span", {}, "or a file"), file),
      show.field,
      note,
    ),
    problem.root,
    results,
  );

  const later = settled(update, 350);
  area.addEventListener("input", () => {
    keep(area.value);
    later();
  });
  file.addEventListener("click", () => {
    file.value = ""; // so that the same file can be chosen again after a change
  });
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    try {
      const { text, whole } = await fileText(file.files[0], MOST);
      area.value = text;
      keep(area.value);
      update(whole ? "" : ", the beginning of the file");
    } catch (error) {
      problem.show(error);
    }
  });

  async function update(more = "") {
    const text = wellFormed(area.value);
    measured = text;
    results.setAttribute("aria-busy", "true");
    try {
      const answer = await asking("curve", { text, tokenizers: tokenizers.map((_, i) => i) });
      if (answer === null) return; // a later one is pending
      found = answer.curves;
      problem.clear();
      const size = new TextEncoder().encode(text).length;
      fill(note, `${several(size, "byte")}${more}`);
      draw();
    } catch (error) {
      problem.show(error);
      results.hidden = true;
    }
    results.removeAttribute("aria-busy");
  }

  function draw() {
    if (found === null) return;
    const [name, tell] = MEASURES.get(measure);
    const lines = found.flatMap((one, series) => one.error ? [] : [{
      series,
      name: tokenizers[series].name,
      own: one.own,
      points: one.points.map((point) => [point.vocab_size, point[measure]]),
    }]);
    results.hidden = false;
    fill(legend, ...found.map((one, i) => entry(one, i, name, tell)));
    chart.root.hidden = listed.root.hidden = lines.length === 0;
    chart.show({ name, tell, of: lines });
    const sizes = [...new Set(lines.flatMap((one) => one.points.map(([size]) => size)))].sort((a, b) => a - b);
    const values = lines.map((one) => new Map(one.points));
    listed.show(
      `${name[0].toUpperCase()}${name.slice(1)}`,
      ["vocabulary size", ...lines.map((one) => one.name)],
      sizes.map((size) => [
        number(size),
        ...values.map((of) => (of.has(size) ? tell(of.get(size)) : "–")),
      ]),
    );
  }

  function entry(one, i, name, tell) {
    const shown = element("li", {}, swatch(i), element("b", {}, tokenizers[i].name));
    if (one.error) shown.append(" ", element("span", { class: "wrong" }, one.error.message));
    else {
      const today = one.points.at(-1)[measure];
      shown.append(" ", quiet(`size ${number(one.own)} today: ${tell(today)} ${name}`));
    }
    return shown;
  }

  return {
    root,
    show() {
      if (area.value !== kept()) area.value = kept();
      if (measured !== wellFormed(area.value)) update();
    },
  };
}
