// The tokens of a text, by one tokenizer or by several side by side.

import { latest } from "./ask.js";
import { card } from "./card.js";
import { tokenDetails } from "./details.js";
import { announce, element, fill, number, problemLine, settled, several, textArea } from "./dom.js";
import { disagreements } from "./places.js";
import { keep, kept, wellFormed } from "./reader.js";

export function textView(tokenizers) {
  const encode = latest();
  const utf8 = new TextEncoder();
  const details = tokenDetails(tokenizers);
  const cards = tokenizers.map((facts, i) =>
    card(facts, {
      onToken: (token, how) => look(i, token, how),
      onOpen: (id) => {
        location.hash = `tree/${i}/${id}`;
      },
    }),
  );
  const area = textArea({ "id": "text", "rows": "7", "aria-describedby": "size" });
  area.value = kept();
  const size = element("p", { id: "size", class: "quiet" });
  const problem = problemLine();
  const differences = differencesBar(step);
  const special = element("input", { type: "checkbox", id: "special" });
  const choosing = tokenizers.length > 1 ? tokenizers.map(chosen) : [];
  const grid = element("div", { class: "cards" }, ...cards.map((one) => one.root));
  let shown = { text: "", stretches: [] };

  const root = element(
    "section",
    { "aria-label": "Text" },
    element("label", { class: "title", for: "text" }, "Text"),
    area,
    element(
      "div",
      { class: "bar" },
      size,
      ...choosing.map(({ field }) => field),
      element("label", { class: "check" }, special, "Parse special tokens"),
      differences.root,
    ),
    problem.root,
    grid,
    details.root,
  );

  // A text that is put in at once can be one event for each of its lines: the server is asked once.
  const soon = settled(update, 0);
  area.addEventListener("input", () => {
    grid.setAttribute("aria-busy", "true");
    soon();
  });
  special.addEventListener("change", update);

  function chosen({ name }, i) {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      cards[i].root.hidden = !box.checked;
      update();
    });
    return { box, field: element("label", { class: "check" }, box, name) };
  }

  function visible() {
    return tokenizers.map((_, i) => i).filter((i) => choosing.length === 0 || choosing[i].box.checked);
  }

  async function update() {
    const text = wellFormed(area.value);
    grid.setAttribute("aria-busy", "true");
    keep(text);
    const wanted = visible();
    let answer;
    try {
      answer = await encode("encode", { text, special: special.checked, tokenizers: wanted });
    } catch (error) {
      problem.show(error);
      fill(size);
      for (const one of cards) one.clear();
      shown = { text: null, stretches: [] };
      differences.show(null);
      details.clear();
      grid.removeAttribute("aria-busy");
      return;
    }
    if (answer === null) return; // a later one is pending
    grid.removeAttribute("aria-busy");
    problem.clear();
    const bytes = utf8.encode(text);
    fill(size, `${several(bytes.length, "byte")}, ${several(countCharacters(text), "character")}`);
    wanted.forEach((i, k) => cards[i].take(text, bytes, answer.encodings[k]));
    const encoded = wanted.map((i) => cards[i]).filter((one) => one.starts !== null);
    const stretches = disagreements(encoded.map((one) => one.starts));
    shown = { text, stretches };
    for (const one of encoded) one.draw(stretches);
    differences.show(encoded.length > 1 ? stretches.length : null);
    details.clear();
  }

  // The current token is marked in all panes, together with the other tokenizers' tokens at its place.
  function look(i, token, how) {
    const mine = cards[i];
    const [start, end] = [mine.starts[token], mine.starts[token + 1]];
    mine.look(token, how.pane);
    for (const j of visible()) if (j !== i && cards[j].starts) cards[j].lookAcross(start, end);
    const told = details.show(i, mine.token(token));
    if (how.by === "keys") announce(told);
  }

  function step(at) {
    const [start, end] = shown.stretches[at];
    for (const j of visible()) if (cards[j].starts) cards[j].lookAcross(start, end);
    const cut = visible()
      .filter((j) => cards[j].starts)
      .map((j) => `${tokenizers[j].name}: ${cards[j].between(start, end).join(" | ")}`);
    announce(cut.join("; "));
  }

  return {
    root,
    show() {
      const text = kept(); // another view may have changed it
      if (area.value !== text) area.value = text;
      if (shown.text !== wellFormed(area.value)) update();
    },
  };
}

function countCharacters(text) {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) count += 1;
  }
  return count;
}

function places(count) {
  return `${several(count, "place")} split differently`;
}

// The number of places that are split differently, with buttons to step through them.
function differencesBar(step) {
  let total = 0;
  let at = -1;
  const says = element("span", { "class": "quiet", "aria-live": "polite" });
  const go = (by) => {
    at = (at + by + total + (at < 0 && by < 0 ? 1 : 0)) % total;
    fill(says, `${number(at + 1)} of ${places(total)}`);
    step(at);
  };
  const before = element("button", { "type": "button", "aria-label": "Previous place split differently" }, "‹");
  const after = element("button", { "type": "button", "aria-label": "Next place split differently" }, "›");
  before.addEventListener("click", () => go(-1));
  after.addEventListener("click", () => go(1));
  const root = element("span", { class: "differences", hidden: true }, before, says, after);
  return {
    root,
    // null if there is nothing to compare
    show(count) {
      [total, at] = [count ?? 0, -1];
      root.hidden = count === null;
      before.disabled = after.disabled = total === 0;
      fill(says, total === 0 ? "All split alike" : places(total));
    },
  };
}
