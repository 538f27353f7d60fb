// The details of the current token, at the foot of the page.

import { element, fill, number, quiet } from "./dom.js";
import { draw, drawn, toHex, tokenPieces, tokenText } from "./visible.js";

export function tokenDetails(tokenizers) {
  const root = element("aside", { "class": "details", "aria-label": "This token", "hidden": true });
  return {
    root,
    clear() {
      root.hidden = true;
    },
    // Shows a token of the text, and returns its description.
    show(tokenizer, { index, of, id, bytes, start, end, isShared, text }) {
      const place = `bytes ${number(start)} to ${number(end)}`; // as in Python, the end is exclusive
      fill(
        root,
        chip(bytes, index),
        fact("id", element("b", {}, String(id))),
        fact("bytes", toHex(bytes)),
        fact("token", `${number(index + 1)} of ${number(of)}, ${place}`),
        isShared ? fact("shares", `the character ${drawn(text)}`) : "",
        element("a", { href: `#tree/${tokenizer}/${id}` }, "Merge tree"),
        tokenizers.length > 1 ? quiet(tokenizers[tokenizer].name) : "",
      );
      root.hidden = false;
      return `${tokenText(bytes)}, id ${id}, token ${index + 1} of ${of}`;
    },
  };
}

// A token by itself, with the colour of its position.
export function chip(bytes, place = 0) {
  return draw(element("span", { class: `token chip c${place % 6}` }), tokenPieces(bytes));
}

function fact(name, value) {
  return element("span", { class: "fact" }, quiet(name), " ", value);
}
