// A pane of any number of tokens. It is split into blocks; those far from the viewport are plain text
// that the browser need not lay out, and get elements when they come near. So a pane has at most some
// thousand elements, and the browser's own search finds everything.

import { element } from "./dom.js";
import { RING, RING_BEGINS, RING_ENDS, lastAtMost } from "./places.js";
import { draw as drawInto } from "./visible.js";

const BLOCK = 200; // cells, and further ones up to the end of the line
const LONGEST = 1000; // cells; a longer line continues in another block, and so on a new line
const LINE = 60; // approximate characters per line, for the height of blocks without a layout
const COLOURS = 6;
const NEAR = "400px";

// `parts(first, after)` returns what to draw for the tokens of a cell, as `pieces` does; `between` is
// the text between cells; `onToken(index, how)` is called when another token becomes current.
export function pane({ label, kind, between = "", parts, onToken, onOpen }) {
  const root = element("div", {
    "class": `pane ${kind}`,
    "tabindex": "0",
    "role": "group",
    "aria-label": label,
    "aria-roledescription": "tokens; arrow keys go from one to the next",
  });
  let firsts = [0];
  let flags = null;
  let blocks = [];
  const starts = []; // the first cell of each block
  let here = [];
  let there = [];
  let current = -1;

  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) draw(target.number);
        else wipe(target.number);
      }
    },
    { root, rootMargin: `${NEAR} 0px` },
  );

  function cell(i) {
    const [first, after] = [firsts[i], firsts[i + 1]];
    const made = element("span", { class: "token" });
    made.first = first;
    made.after = after;
    if (after - first === 1) made.classList.add(`c${first % COLOURS}`);
    else paintShares(made);
    if (flags && flags[first] & RING) {
      made.classList.add("ring");
      if (flags[first] & RING_BEGINS) made.classList.add("begins");
      if (flags[after - 1] & RING_ENDS) made.classList.add("ends");
    }
    return drawInto(made, parts(first, after), { own: true });
  }

  // Tokens that share a character each get a part of its width, in proportion to their bytes.
  function paintShares(made) {
    const shares = sharesOf(made);
    const stops = [];
    let sum = 0;
    shares.forEach((share, k) => {
      const color = `var(--c${(made.first + k) % COLOURS})`;
      stops.push(`${color} ${(100 * sum).toFixed(2)}% ${(100 * (sum += share)).toFixed(2)}%`);
    });
    made.classList.add("shared");
    made.style.backgroundImage = `linear-gradient(90deg, ${stops.join(", ")})`;
  }

  function sharesOf({ first, after }) {
    const sizes = Array.from({ length: after - first }, (_, k) => api.sizes[first + k]);
    const all = sizes.reduce((a, b) => a + b, 0) || 1;
    return sizes.map((size) => size / all);
  }

  function plain(block) {
    let text = "";
    for (let i = block.start; i < block.end; i += 1) {
      text += textOf(i) + between;
    }
    return text;
  }

  function textOf(i) {
    return parts(firsts[i], firsts[i + 1]).map(([text]) => text).join("");
  }

  // Splits all cells into blocks, if possible after the ends of lines.
  function cut() {
    blocks = [];
    starts.length = 0;
    const last = firsts.length - 1;
    let start = 0;
    let text = "";
    for (let i = 0; i < last; i += 1) {
      const shown = textOf(i);
      text += shown + between;
      const size = i + 1 - start;
      const isFull = size >= BLOCK && (between !== "" || shown.endsWith("\n") || size >= LONGEST);
      if (!isFull && i + 1 < last) continue;
      const root = element("div", { class: "block" }, text);
      root.number = blocks.length;
      const lines = Math.max(text.split("\n").length - 1, Math.ceil(text.length / LINE));
      root.style.containIntrinsicBlockSize = `auto ${lines}lh`;
      blocks.push({ root, start, end: i + 1, isDrawn: false });
      starts.push(start);
      [start, text] = [i + 1, ""];
    }
  }

  function draw(number) {
    const block = blocks[number];
    if (!block || block.isDrawn) return;
    block.isDrawn = true;
    const made = [];
    for (let i = block.start; i < block.end; i += 1) {
      made.push(cell(i));
      if (between) made.push(between);
    }
    block.root.replaceChildren(...made);
    if (current >= firsts[block.start] && current < firsts[block.end]) mark(current);
  }

  function wipe(number) {
    const block = blocks[number];
    if (!block?.isDrawn) return;
    block.isDrawn = false;
    block.root.textContent = plain(block);
  }

  function elementOf(token) {
    const i = lastAtMost(firsts, token);
    const number = lastAtMost(starts, i);
    const block = blocks[number];
    if (!block) return null;
    draw(number);
    return block.root.children[i - block.start] ?? null;
  }

  function unmark() {
    for (const one of here) one.classList.remove("here");
    for (const one of there) one.classList.remove("there");
    here = [];
    there = [];
  }

  function mark(token) {
    unmark();
    current = token;
    const found = elementOf(token);
    if (found) {
      found.classList.add("here");
      here = [found];
    }
    return found;
  }

  function tokenAt(event) {
    const found = event.target.closest?.(".token");
    if (!found || !root.contains(found)) return -1;
    if (found.after - found.first === 1) return found.first;
    const box = found.getBoundingClientRect();
    let place = (event.clientX - box.left) / (box.width || 1);
    const shares = sharesOf(found);
    for (let k = 0; k < shares.length; k += 1) {
      if (place < shares[k] || k === shares.length - 1) return found.first + k;
      place -= shares[k];
    }
    return found.first;
  }

  root.addEventListener("pointermove", (event) => {
    const token = tokenAt(event);
    if (token >= 0 && token !== current) onToken(token, "pointer");
  });
  root.addEventListener("click", (event) => {
    const token = tokenAt(event);
    if (token >= 0) onToken(token, "pointer");
  });
  root.addEventListener("keydown", (event) => {
    const last = firsts.at(-1) - 1;
    const steps = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: last };
    if (event.key === "Enter" && current >= 0) onOpen(current);
    else if (!(event.key in steps) || last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    else onToken(Math.min(last, Math.max(0, steps[event.key])), "keys");
    event.preventDefault();
  });

  const api = {
    root,
    sizes: [],
    // Show other tokens: the first token of each cell and their total number, their sizes, and rings.
    show(newFirsts, sizes, newFlags) {
      observer.disconnect();
      unmark();
      current = -1;
      [firsts, flags] = [newFirsts, newFlags];
      api.sizes = sizes;
      cut();
      root.replaceChildren(...blocks.map((block) => block.root));
      draw(0); // at once, so that no frame shows it without colours
      for (const block of blocks) observer.observe(block.root);
    },
    // Mark a token, and scroll to it unless it is already visible.
    look(token, isHere) {
      const found = mark(token);
      if (found && !isHere) bring(found);
    },
    // Mark the tokens at the same place as a token of another tokenizer.
    lookAcross(first, after) {
      unmark();
      current = first;
      let seen = null;
      for (let token = first; token < after && token < first + 200; token += 1) {
        const found = elementOf(token);
        if (found && !there.includes(found)) {
          found.classList.add("there");
          there.push(found);
          seen ??= found;
        }
      }
      if (seen) bring(seen);
    },
  };

  function bring(found) {
    const [outer, inner] = [root.getBoundingClientRect(), found.getBoundingClientRect()];
    if (inner.top < outer.top) root.scrollTop -= outer.top - inner.top + 24;
    else if (inner.bottom > outer.bottom) root.scrollTop += inner.bottom - outer.bottom + 24;
  }

  return api;
}
