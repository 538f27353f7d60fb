// The top of a view that asks one tokenizer about one text: both, a note, and a place for errors.

import { choice, element, fill, problemLine, settled, textArea } from "./dom.js";
import { opening, wellFormed } from "./reader.js";

const MOST = 600; // characters taken from the shared text at first

// `ask({ tokenizer, text })` gives an answer, or null if a later one is pending. `answered(answer)` shows
// it in `results`, and returns the note. The form shows `options` next to the tokenizer menu.
export function textForm({ id, name, tokenizers, pause, options = [], results, ask, answered }) {
  let tokenizer = 0;
  let taken = null; // from the shared text

  const which = choice("Tokenizer", tokenizers.map((one, i) => [i, one.name]), (value) => {
    tokenizer = Number(value);
    update();
  });
  const area = textArea({ id: `${id}-text`, rows: "3" });
  const note = element("p", { "class": "quiet", "role": "status" });
  const problem = problemLine();
  const root = element(
    "section",
    { "aria-label": name },
    element("label", { class: "title", for: area.id }, "Text"),
    area,
    element("div", { class: "bar" }, tokenizers.length > 1 ? which.field : "", ...options, note),
    problem.root,
    results,
  );
  area.addEventListener("input", settled(update, pause));

  async function update() {
    let answer;
    try {
      answer = await ask({ tokenizer, text: wellFormed(area.value) });
    } catch (error) {
      problem.show(error);
      fill(note);
      results.hidden = true;
      return;
    }
    if (answer === null) return; // a later one is pending
    problem.clear();
    fill(note, answered(answer));
  }

  return {
    root,
    update,
    show() {
      const text = opening(MOST);
      if (text === taken) return;
      taken = area.value = text;
      update();
    },
  };
}
