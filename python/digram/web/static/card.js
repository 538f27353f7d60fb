// One tokenizer beside a text: its counts, and its tokens as text, as ids and as bytes.

import { copyButton } from "./copying.js";
import { element, fill, number, vocabularySize } from "./dom.js";
import { pane } from "./pane.js";
import { cells, lastAtMost, places, rings } from "./places.js";
import { drawn, pieces, toHex } from "./visible.js";

export function card(facts, { onToken, onOpen }) {
  let text = "";
  let bytes = new Uint8Array();
  let ids = [];
  let found = null; // places
  const opened = (token) => onOpen(ids[token]);
  const make = (kind, title, between, parts) =>
    pane({
      label: `${title}, ${facts.name}`,
      kind,
      between,
      parts,
      onToken: (token, by) => onToken(token, { by, pane: kind }),
      onOpen: opened,
    });
  const panes = {
    text: make("text", "Tokens", "", (first, after) => {
      const [from, to] = [found.from[first], found.to[after - 1]];
      return pieces(text.slice(from, to));
    }),
    ids: make("ids", "Ids", " ", (token) => [[String(ids[token]), null]]),
    bytes: make("bytes", "Bytes", " ", (token) => [[toHex(slice(token)), null]]),
  };
  const counts = element("dl", { class: "counts" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const copyIds = copyButton(() => `[${ids.join(", ")}]`, {
    label: `Copy the ids of ${facts.name}`,
    copied: "The ids were copied.",
    otherwise: "select the ids and copy them",
  });
  const body = element(
    "div",
    { class: "panes" },
    ...[["text", "Tokens"], ["ids", "Ids", copyIds], ["bytes", "Bytes"]].map(([kind, title, ...more]) =>
      element(
        "div",
        { class: `panel ${kind}-panel` },
        element("div", { class: "panel-head" }, element("h3", {}, title), ...more),
        panes[kind].root,
      ),
    ),
  );
  const root = element(
    "article",
    { "class": "card", "aria-label": facts.name },
    element(
      "header",
      {},
      element("h2", {}, facts.name),
      element("p", { class: "quiet" }, describe(facts)),
      counts,
    ),
    problem,
    body,
  );

  function slice(token) {
    return bytes.subarray(found.starts[token], found.starts[token + 1]);
  }

  const made = {
    root,
    // The ends of the tokens in bytes, or null without tokens.
    starts: null,
    // Show the server's encoding of a text.
    take(newText, newBytes, encoding) {
      [text, bytes] = [newText, newBytes];
      if (encoding.error) {
        made.clear();
        fill(problem, encoding.error.message, " ", encoding.error.remedy ?? "");
        problem.hidden = false;
        return;
      }
      problem.hidden = true;
      body.hidden = counts.hidden = false;
      ids = encoding.ids;
      found = places(text, encoding.sizes);
      made.starts = found.starts;
      made.sizes = encoding.sizes;
      fill(
        counts,
        ...count("tokens", number(ids.length)),
        ...count("bytes per token", ids.length ? (bytes.length / ids.length).toFixed(2) : "–"),
        ...count("distinct tokens", number(new Set(ids).size)),
      );
    },
    // Clear the tokens and counts, which belong to another text.
    clear() {
      problem.hidden = body.hidden = counts.hidden = true;
      made.starts = null;
    },
    // Draw the tokens, with rings around the stretches that other tokenizers split differently.
    draw(stretches) {
      const flags = stretches.length ? rings(found.starts, stretches) : null;
      const each = Array.from({ length: ids.length + 1 }, (_, i) => i);
      panes.text.show(cells(found), made.sizes, flags);
      panes.ids.show(each, made.sizes, flags);
      panes.bytes.show(each, made.sizes, flags);
    },
    look(token, kind) {
      for (const [name, one] of Object.entries(panes)) one.look(token, name === kind);
    },
    lookAcross(start, end) {
      const first = Math.max(0, lastAtMost(found.starts, start));
      let after = first;
      while (after < ids.length && found.starts[after] < end) after += 1;
      for (const one of Object.values(panes)) one.lookAcross(first, after);
    },
    // The tokens between two byte offsets, as text.
    between(start, end) {
      const shown = [];
      for (let i = lastAtMost(found.starts, start); found.starts[i] < end; i += 1) {
        shown.push(drawn(text.slice(found.from[i], found.to[i])));
      }
      return shown;
    },
    // The details of a token of the text.
    token(i) {
      return {
        index: i,
        of: ids.length,
        id: ids[i],
        bytes: slice(i),
        start: found.starts[i],
        end: found.starts[i + 1],
        isShared: (i > 0 && found.to[i - 1] > found.from[i])
          || (i + 1 < ids.length && found.to[i] > found.from[i + 1]),
        text: text.slice(found.from[i], found.to[i]),
      };
    },
  };
  return made;
}

function count(name, value) {
  return [element("div", {}, element("dt", {}, name), element("dd", {}, value))];
}

function describe(facts) {
  const { pretokenizer, unit } = facts;
  const split = pretokenizer === null ? "no pretokenizer" : `pretokenizer ${pretokenizer}`;
  return `${vocabularySize(facts)}, ${split}${unit === "char" ? ", over characters" : ""}`;
}
