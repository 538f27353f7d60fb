// Why a text became its tokens: its pretokens, and the merges of each, step by step.

import { latest } from "./ask.js";
import { chip } from "./details.js";
import { announce, element, fill, number, quiet, several } from "./dom.js";
import { equation, nextPair } from "./merges.js";
import { stepper } from "./stepper.js";
import { textForm } from "./text-form.js";
import { drawn, fromHex, tokenText } from "./visible.js";

const MOST_CANDIDATES = 12;
const ENOUGH = 3; // merges
const HOW = {
  whole: "The vocabulary uses it whole: a pretoken that is a token is not merged.",
  special: "A special token.",
};

export function explainView(tokenizers) {
  const explaining = latest();
  const stepping = latest();
  let asked = null;
  let bytes = new Uint8Array();
  let found = { pretokens: [] };
  let at = -1;

  const special = element("input", { type: "checkbox", id: "explain-special" });
  const list = element("div", {
    "class": "pretokens",
    "id": "pretokens",
    "tabindex": "0",
    "role": "listbox",
    "aria-label": "Pretokens",
  });
  const chosen = element("div", { class: "sheet chosen" });
  const results = element(
    "div",
    { class: "results", hidden: true },
    element("div", { class: "sheet" }, element("h2", {}, "Pretokens"), list),
    chosen,
  );
  const form = textForm({
    id: "explain",
    name: "Explain",
    tokenizers,
    pause: 200,
    options: [element("label", { class: "check" }, special, "Parse special tokens")],
    results,
    ask(question) {
      asked = { ...question, special: special.checked };
      return explaining("explain", asked);
    },
    answered,
  });

  special.addEventListener("change", form.update);
  list.addEventListener("click", (event) => {
    const one = event.target.closest("[role=option]");
    if (one) choose([...list.children].indexOf(one));
  });
  list.addEventListener("keydown", (event) => {
    const last = found.pretokens.length - 1;
    const steps = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(Math.min(last, Math.max(0, steps[event.key])));
    list.children[at]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  function answered(answer) {
    found = answer;
    bytes = new TextEncoder().encode(asked.text);
    const { pretokens } = found;
    results.hidden = pretokens.length === 0;
    fill(list, ...pretokens.map(option));
    // The first one with merges to show.
    const worth = pretokens.findIndex(({ steps, size }) => steps >= ENOUGH && size <= found.most_stepped);
    if (pretokens.length) choose(Math.max(0, worth));
    const ids = pretokens.reduce((sum, one) => sum + one.ids.length, 0);
    return `${several(pretokens.length, "pretoken")}, ${several(ids, "token")}`;
  }

  function option(one, i) {
    const made = element("span", { "id": `pretoken-${i}`, "class": "pretoken", "role": "option", "aria-selected": "false" });
    one.tokens.forEach((hex, k) => made.append(chip(fromHex(hex), k)));
    made.setAttribute("aria-label", `${tokenText(slice(one))}, ${several(one.ids.length, "token")}`);
    return made;
  }

  function slice(one) {
    return bytes.subarray(one.start, one.start + one.size);
  }

  async function choose(i) {
    list.children[at]?.setAttribute("aria-selected", "false");
    at = i;
    const option = list.children[at];
    option.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", option.id);
    const one = found.pretokens[at];
    const told = element("div", {});
    fill(chosen, ...about(one), told);
    if (one.how !== "merges" && one.steps === 0) return;
    if (one.size > found.most_stepped) {
      const most = `Steps are shown for pretokens of up to ${number(found.most_stepped)} bytes.`;
      fill(told, element("p", { class: "quiet" }, `${most} For longer ones use digram explain.`));
      return;
    }
    try {
      const answer = await stepping("steps", { ...asked, pretoken: at });
      if (answer !== null) fill(told, steps(answer, asked.tokenizer));
    } catch (error) {
      fill(told, element("p", { class: "quiet" }, `${error.message} ${error.remedy ?? ""}`));
    }
  }

  // The facts about a pretoken, and why it was cut out.
  function about(one) {
    const heading = element("h2", {}, "Pretoken ", chip(slice(one), 5));
    const place = `bytes ${number(one.start)} to ${number(one.start + one.size)}`;
    const facts = [place, several(one.ids.length, "token"), several(one.steps, "merge")];
    const made = [heading, element("p", { class: "quiet" }, facts.join(", "))];
    if (one.how === "special") return [...made, element("p", {}, HOW.special)];
    made.push(element("p", { class: "cut" }, ...whyCut(one.cut, found.pretokenizer)));
    if (one.how === "whole") made.push(element("p", {}, HOW.whole));
    return made;
  }

  return form;
}

function whyCut({ split, alternative, pattern, between }, pretokenizer) {
  const name = pretokenizer ?? "the pretokenizer";
  if (pattern === null && !between) {
    return [split === null ? "Nothing splits the text." : `Cut out by pattern ${split + 1} of ${name}.`];
  }
  if (pattern === "rules") {
    return [between ? "The text between pieces that rules cut out." : "Cut out by rules."];
  }
  if (between) return ["The text between two matches of ", code(pattern ?? name), "."];
  if (split === null) return [`Cut out by the policy for digits: ${pattern}.`];
  const part = alternative === null ? "the pattern" : `part ${alternative + 1}`;
  return [`Cut out by ${part} of ${name}: `, code(pattern)];
}

// The text of a pattern, with visible spaces.
function code(pattern) {
  return element("code", {}, drawn(pattern));
}

// The merges of a pretoken, one at a time and as a list.
function steps({ first, steps: merges, ids, how }, tokenizer) {
  // The tokens before each step, and at the end; each with the offset of its first byte.
  const states = [first.map((hex, i) => ({ hex, color: i }))];
  for (const { place, hex } of merges) {
    const state = [...states.at(-1)];
    state.splice(place, 2, { hex, color: state[place].color });
    states.push(state);
  }
  const stage = element("p", { class: "stage" });
  const next = element("div", { class: "next" });
  const list = element("ol", { class: "merges" });
  const controls = stepper({
    name: "step",
    show(step, by) {
      const merge = merges[step];
      fill(
        stage,
        ...states[step].map(({ hex, color }, i) => {
          const made = chip(fromHex(hex), color);
          if (merge && (i === merge.place || i === merge.place + 1)) made.classList.add("there");
          return made;
        }),
      );
      fill(next, ...(merge ? why(merge) : end(ids, how, tokenizer)));
      [...list.children].forEach((one, i) => one.classList.toggle("now", i === step));
      const tokens = states[step].map(({ hex }) => tokenText(fromHex(hex))).join(" ");
      if (by === "person") announce(`${tokens}. ${merge ? `${nextPair(merge)}, ${known(merge)}` : "No merge is left."}`);
    },
  });
  fill(list, ...merges.map((merge) => element("li", {}, ...equation(merge), quiet(` ${known(merge)}`))));
  controls.to(0, merges.length);
  return element(
    "div",
    {},
    controls.root,
    stage,
    next,
    merges.length
      ? element("details", {}, element("summary", {}, `All ${several(merges.length, "merge")}, in order`), list)
      : "",
  );
}

function why(merge) {
  const [, ...others] = merge.candidates;
  const shown = others.slice(0, MOST_CANDIDATES);
  const more = others.length - shown.length;
  const places = merge.candidates[0].places.length;
  return [
    element("p", {}, ...equation(merge), quiet(` ${known(merge)}${merge.count === null ? "" : " in training"}`)),
    element(
      "p",
      { class: "quiet" },
      others.length ? "It has the lowest rank of all merges that are possible now" : "It is the only merge that is possible now",
      places > 1 ? `, and the leftmost of its ${places} places comes first.` : ".",
    ),
    others.length ? element("h3", {}, "Also possible, with higher ranks") : "",
    element("ul", { class: "others" }, ...shown.map((one) => element("li", {}, ...equation(one), quiet(` ${known(one)}`)))),
    more > 0 ? element("p", { class: "quiet" }, `and ${number(more)} more`) : "",
  ];
}

function end(ids, how, tokenizer) {
  const told = how === "whole" ? "These merges lead to the same." : "No adjacent pair has a merge.";
  return [
    element(
      "p",
      {},
      ids.length === 1 ? "The token, by its id: " : "The tokens, by their ids: ",
      ...ids.flatMap((id) => [element("a", { href: `#tree/${tokenizer}/${id}` }, String(id)), " "]),
    ),
    element("p", { class: "quiet" }, told),
  ];
}

function known({ rank, count }) {
  return `rank ${number(rank)}${count === null ? "" : `, count ${number(count)}`}`;
}
