// The merge tree of each token of a text, and its merges in order.

import { Problem, ask, latest } from "./ask.js";
import { chip } from "./details.js";
import { choice, element, fill, number, quiet, several } from "./dom.js";
import { wellFormed } from "./reader.js";
import { fromHex } from "./visible.js";

const MOST = 24; // trees at once
const UNMERGED = {
  byte: "a byte",
  character: "a character",
  whole: "no merge makes it",
  special: "a special token",
};

export function treeView(tokenizers) {
  const encode = latest();
  let tokenizer = 0;
  let run = 0;

  const which = choice("Tokenizer", tokenizers.map(({ name }, i) => [i, name]), (value) => {
    tokenizer = Number(value);
    showText();
  });
  const input = element("input", {
    type: "text",
    id: "word",
    value: " tokenization",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
  });
  input.addEventListener("input", showText);
  const trees = element("div", { class: "trees" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const note = element("p", { "class": "quiet", "role": "status" });
  const root = element(
    "section",
    { "aria-label": "Merge tree" },
    element(
      "div",
      { class: "bar" },
      tokenizers.length > 1 ? which.field : "",
      element("label", { class: "field wide" }, element("span", {}, "Text"), input),
      note,
    ),
    problem,
    trees,
  );

  async function showText() {
    if (/^#tree\//.test(location.hash)) history.replaceState(null, "", "#tree");
    await trying(async () => {
      const text = wellFormed(input.value);
      const answer = await encode("encode", { text, tokenizers: [tokenizer] });
      if (answer === null) return;
      const [{ ids, error }] = answer.encodings;
      if (error) throw new Problem(error.message, error.remedy);
      await showIds(ids);
    });
  }

  async function showIds(ids) {
    const mine = (run += 1);
    const shown = ids.slice(0, MOST);
    const found = await Promise.all(shown.map((id) => ask("tree", { tokenizer, id })));
    if (mine !== run) return;
    const rest = ids.length > MOST ? `, of which the first ${MOST} are shown` : "";
    fill(note, ids.length === 1 ? "" : `${several(ids.length, "token")}${rest}`);
    fill(trees, ...found.map(({ nodes }, i) => figure(nodes, i, tokenizer)));
  }

  async function trying(action) {
    try {
      await action();
      problem.hidden = true;
    } catch (error) {
      fill(problem, error instanceof Problem ? `${error.message} ${error.remedy ?? ""}` : String(error));
      problem.hidden = false;
      fill(trees);
    }
  }

  return {
    root,
    // `#tree/0/262` shows one token of one tokenizer, `#tree` the tokens of the text.
    show([wanted, id]) {
      if (/^\d{1,4}$/.test(wanted) && Number(wanted) < tokenizers.length && /^\d{1,12}$/.test(id)) {
        tokenizer = Number(wanted);
        which.select.value = wanted;
        trying(() => showIds([Number(id)]));
      } else showText();
    },
  };
}

// The tree of one token, its facts, and its merges from first to last.
function figure(nodes, place, tokenizer) {
  const [top] = nodes;
  const bytes = fromHex(top.hex);
  const counted = top.count === null ? "" : `, counted ${number(top.count)} times in training`;
  const how = top.kind === "merge" ? `rank ${number(top.rank)}${counted}` : UNMERGED[top.kind];
  return element(
    "figure",
    { class: "tree" },
    element(
      "figcaption",
      {},
      chip(bytes, place),
      quiet(` id ${top.id}, ${several(bytes.length, "byte")}, ${how}`),
    ),
    element("div", { class: "branches", tabindex: "0", role: "group", "aria-label": "Tree" },
      element("ul", {}, branches(nodes, tokenizer)),
    ),
    merges(nodes),
  );
}

// Each node precedes its parts: it is put under the last node of the level above.
function branches(nodes, tokenizer) {
  const above = []; // by level
  nodes.forEach((node, at) => {
    const label = element(
      at === 0 ? "span" : "a",
      { class: "node", href: at === 0 ? null : `#tree/${tokenizer}/${node.id}` },
      chip(fromHex(node.hex), at),
      quiet(node.rank === null ? `id ${node.id}` : `rank ${number(node.rank)}`),
    );
    const item = element("li", {}, label);
    if (node.level > 0) {
      const parent = above[node.level - 1];
      if (!parent.lastChild.matches("ul")) parent.append(element("ul", {}));
      parent.lastChild.append(item);
    }
    above[node.level] = item;
  });
  return above[0];
}

function merges(nodes) {
  const made = new Map();
  nodes.forEach((node, at) => {
    if (node.kind !== "merge" || made.has(node.rank)) return;
    // Its left part is the next node, its right part the second node after it of the next level.
    const right = nodes.findIndex((one, i) => i > at + 1 && one.level === node.level + 1);
    made.set(node.rank, { node, parts: [nodes[at + 1], nodes[right]] });
  });
  if (made.size < 2) return "";
  const steps = [...made.values()].sort((a, b) => a.node.rank - b.node.rank);
  const one = (node) => chip(fromHex(node.hex), nodes.indexOf(node));
  return element(
    "details",
    {},
    element("summary", {}, `${several(steps.length, "merge")}, in order`),
    element(
      "ol",
      { class: "merges" },
      ...steps.map(({ node, parts: [left, right] }) => {
        const count = node.count === null ? "" : `, counted ${number(node.count)} times`;
        const told = ` rank ${number(node.rank)}${count}`;
        return element("li", {}, one(left), " + ", one(right), " → ", one(node), quiet(told));
      }),
    ),
  );
}
