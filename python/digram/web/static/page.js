// The entry point of the page: the token of this run, the tokenizers, and the views.

import { Problem, ask, takeToken } from "./ask.js";
import { curveView } from "./curve-view.js";
import { element, fill } from "./dom.js";
import { explainView } from "./explain-view.js";
import { languagesView } from "./languages-view.js";
import { replayView } from "./replay-view.js";
import { textView } from "./text-view.js";
import { treeView } from "./tree-view.js";
import { drawnName } from "./visible.js";
import { vocabularyView } from "./vocabulary-view.js";

// A view is made once, at its first visit, from the tokenizers; `show` gets the part of the address
// after its name, as in `#tree/0/262`. A new view needs a module and a line here.
const VIEWS = [
  { name: "text", title: "Text", make: textView },
  { name: "vocabulary", title: "Vocabulary", make: vocabularyView },
  { name: "tree", title: "Merge tree", make: treeView },
  { name: "explain", title: "Explain", make: explainView },
  { name: "replay", title: "Replay", make: replayView },
  { name: "curve", title: "Curve", make: curveView },
  { name: "languages", title: "Languages", make: languagesView },
];

const main = document.getElementById("main");

async function begin() {
  takeToken();
  let tokenizers;
  try {
    ({ tokenizers } = await ask("tokenizers", {}));
    for (const one of tokenizers) one.name = drawnName(one.name); // a file name may contain any character
  } catch (error) {
    fill(main, complaint(error));
    return;
  }
  const made = new Map();
  const links = VIEWS.map(({ name, title }) => element("a", { href: `#${name}` }, title));
  fill(document.getElementById("views"), ...links);

  function route() {
    const [name, ...rest] = location.hash.slice(1).split("/");
    const at = Math.max(0, VIEWS.findIndex((view) => view.name === name));
    const view = VIEWS[at];
    if (!made.has(view.name)) made.set(view.name, view.make(tokenizers));
    links.forEach((link, i) => {
      if (i === at) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    document.title = `${view.title} – digram`;
    const shown = made.get(view.name);
    if (main.firstChild !== shown.root) fill(main, shown.root);
    shown.show(rest);
  }

  addEventListener("hashchange", route);
  route();
}

function complaint(error) {
  const { message, remedy } = error instanceof Problem ? error : { message: String(error) };
  return element("p", { class: "problem", role: "alert" }, message, remedy ? ` ${remedy}` : "");
}

document.getElementById("skip").addEventListener("click", () => main.focus());
begin();
