// The cost of texts in several languages, for each tokenizer: named texts, bars, tables.

import { Problem, latest } from "./ask.js";
import { bars } from "./bars.js";
import { choice, element, fill, number, problemLine, settled } from "./dom.js";
import { wellFormed } from "./reader.js";
import { table } from "./table.js";
import { textRows } from "./text-rows.js";
import { drawnName } from "./visible.js";

const two = (value) => value.toFixed(2);
const percent = (value) => `${(100 * value).toFixed(1)}%`;
const times = (value) => `${two(value)}×`;
// A measure of a text: its title, its format, and its key in the answer.
const of = (name, title, tell) => ({ name, title, tell, take: (found, text) => found.by_name[text][name] });
const PREMIUM = {
  name: "premium",
  title: "premium over the reference",
  tell: times,
  take: (found, text) => found.parallel.premium[text],
};
const PER_LINE = {
  name: "tokens_per_line",
  title: "tokens per line",
  tell: two,
  take: (found, text) => found.parallel.tokens_per_line[text],
};
const MEASURES = [
  of("tokens", "tokens", number),
  of("bytes_per_token", "bytes per token", two),
  of("characters_per_token", "characters per token", two),
  of("fertility", "fertility", two),
  of("whole_words", "whole words", percent),
  of("coverage", "coverage", percent),
];
// Two parallel lines each.
const SAMPLES = [
  ["English", "The river rises after the long rain.\nOur neighbours bring bread and warm blankets.\n"],
  ["German", "Nach dem langen Regen steigt der Fluss.\nUnsere Nachbarn bringen Brot und warme Decken.\n"],
  ["Greek", "Το ποτάμι ανεβαίνει μετά τη μακρά βροχή.\nΟι γείτονές μας φέρνουν ψωμί και ζεστές κουβέρτες.\n"],
  ["Chinese", "久雨之后河水上涨。\n我们的邻居带来面包和温暖的毯子。\n"],
];

export function languagesView(tokenizers) {
  const asking = latest();
  let found = null;
  let names = [];
  let measure = PREMIUM.name;
  let asked = false;

  const problem = problemLine();
  const rows = textRows(SAMPLES, { onChange: settled(update, 350), onProblem: problem.show });
  const reference = choice("Line by line the same as", [], update);
  const show = choice("Show", [], (value) => {
    measure = value;
    draw();
  });
  const chart = bars(tokenizers.map(({ name }) => name));
  const cards = tokenizers.map(({ name }) => card(name));
  const results = element(
    "div",
    { class: "results", hidden: true },
    element("div", { class: "sheet" }, show.field, chart.root),
    ...cards.map((one) => one.root),
  );
  const root = element(
    "section",
    { "aria-label": "Languages" },
    rows.root,
    element("div", { class: "bar" }, ...rows.buttons, reference.field),
    problem.root,
    results,
  );

  async function update() {
    asked = true;
    const written = rows.texts().filter(({ text }) => text.trim() !== "");
    const texts = written.map(({ name, text }) => [wellFormed(name), wellFormed(text)]);
    offer(reference.select, [["", "none: not parallel"], ...written.map(({ row, name }) => [row, drawnName(name)])]);
    if (texts.length === 0) {
      results.hidden = true;
      return;
    }
    const args = { texts, tokenizers: tokenizers.map((_, i) => i) };
    const parallel = written.findIndex(({ row }) => row === reference.select.value);
    if (parallel >= 0) args.reference = texts[parallel][0];
    try {
      const answer = await asking("measures", args);
      if (answer === null) return; // a later one is pending
      const [first] = answer.measures;
      if (answer.measures.every(({ error }) => error?.message === first.error?.message) && first.error) {
        const remedy = "reference" in args ? "Give all texts the same number of lines, or choose none." : first.error.remedy;
        throw new Problem(first.error.message, remedy);
      }
      [found, names] = [answer.measures, texts.map(([name]) => name)];
      problem.clear();
      draw();
    } catch (error) {
      problem.show(error);
      results.hidden = true;
    }
  }

  function draw() {
    const parallel = found.some((one) => one.parallel);
    const known = parallel ? [PREMIUM, PER_LINE, ...MEASURES] : MEASURES;
    offer(show.select, known.map(({ name, title }) => [name, title]), parallel ? measure : "bytes_per_token");
    const shown = known.find(({ name }) => name === show.select.value);
    chart.show(
      names.map((name) => [drawnName(name), found.map((one) => (one.error ? null : shown.take(one, name)))]),
      shown.tell,
      shown.title,
    );
    cards.forEach((one, i) => one.show(found[i], names, known));
    results.hidden = false;
  }

  return {
    root,
    show() {
      if (asked) return;
      offer(reference.select, rows.texts().slice(0, 1).map(({ row, name }) => [row, drawnName(name)]));
      update();
    },
  };
}

// The table of one tokenizer, and the inequality of the texts.
function card(name) {
  const listed = table(name);
  const problem = problemLine();
  const note = element("p", { class: "quiet note" });
  const root = element("article", { "aria-label": name }, problem.root, listed.root);
  listed.root.append(note);
  return {
    root,
    show(found, names, known) {
      listed.root.hidden = Boolean(found.error);
      if (found.error) {
        problem.show({ message: `${name}: ${found.error.message}`, remedy: found.error.remedy });
        return;
      }
      problem.clear();
      listed.show(
        name,
        ["text", ...known.map(({ title }) => title)],
        names.map((text) => [drawnName(text), ...known.map(({ take, tell }) => tell(take(found, text)))]),
      );
      const { parallel } = found;
      note.hidden = parallel === null;
      if (parallel) {
        fill(
          note,
          `Fewest tokens: ${drawnName(parallel.best)}. Most: ${drawnName(parallel.worst)}. Gini coefficient: `,
          parallel.gini.toFixed(3),
        );
      }
    },
  };
}

// Replaces the options of a choice; the chosen one stays if it still exists.
function offer(select, options, wanted = select.value) {
  fill(select, ...options.map(([value, title]) => element("option", { value }, title)));
  select.value = options.some(([value]) => value === wanted) ? wanted : options[0][0];
}
