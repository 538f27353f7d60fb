// The vocabulary: all tokens, searched and sorted by the server; only visible rows are loaded.

import { Problem, ask } from "./ask.js";
import { chip } from "./details.js";
import { choice, element, fill, number, several, vocabularySize } from "./dom.js";
import { drawn, fromHex, tokenText } from "./visible.js";

const HEIGHT = 36; // of a row, in pixels, as in lists.css
const PAGE = 200; // rows of one answer
const PAGES = 20; // answers to keep
const BYTES = /^\s*([0-9a-f]{2}\s*)*$/i; // as the server parses them

export function vocabularyView(tokenizers) {
  const asked = { tokenizer: 0, search: "", by: "text", sort: "id", descending: false };
  const columns = [
    ["id", "Id"],
    ["token", "Token"],
    ["hex", "Bytes", null],
    ["bytes", "Length"],
    ["rank", "Rank"],
    ["count", "Count in training"],
  ];
  let pages = new Map(); // by number: rows, or a promise of them
  let run = 0;
  let total = 0;
  let active = -1;
  let scrolled = 0; // the list loses it while another view is shown

  const which = choice("Tokenizer", tokenizers.map(({ name }, i) => [i, name]), (value) => {
    change({ tokenizer: Number(value) });
  });
  const search = element("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false" });
  const by = choice("in", [["text", "text"], ["id", "ids"], ["hex", "bytes (hex)"]], (value) => {
    change({ by: value });
  });
  const status = element("p", { "class": "quiet", "role": "status" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const nothing = element("p", { class: "nothing", hidden: true });
  const heads = columns.map(([name, title, sortable]) =>
    element(
      "span",
      { class: `cell ${name}`, role: "columnheader" },
      sortable === null ? title : sorter(name, title),
    ),
  );
  const spacer = element("div", { class: "spacer", role: "presentation" });
  const body = element("div", { "class": "rows", "role": "rowgroup", "tabindex": "0", "aria-label": "Tokens" }, spacer);
  const grid = element(
    "div",
    { "class": "grid", "role": "grid", "aria-label": "Vocabulary" },
    element("div", { class: "head", role: "rowgroup" }, element("div", { class: "row", role: "row" }, ...heads)),
    body,
  );
  const root = element(
    "section",
    { "aria-label": "Vocabulary" },
    element(
      "div",
      { class: "bar" },
      tokenizers.length > 1 ? which.field : "",
      element("label", { class: "field wide" }, element("span", {}, "Search"), search),
      by.field,
      status,
    ),
    problem,
    nothing,
    grid,
  );

  let typing;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => change({ search: search.value }), 120);
  });
  body.addEventListener("scroll", () => {
    scrolled = body.scrollTop;
    draw();
  }, { passive: true });
  new ResizeObserver(draw).observe(body);
  body.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(body.clientHeight / HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    if (event.key === "Enter") open(rowAt(active));
    else if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    else activate(Math.min(total - 1, Math.max(0, active + steps[event.key])));
    event.preventDefault();
  });
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    active = row.number;
    open(rowAt(active));
  });

  function sorter(name, title) {
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      const again = asked.sort === name;
      change({ sort: name, descending: again ? !asked.descending : name === "bytes" || name === "count" });
    });
    return button;
  }

  function change(what) {
    Object.assign(asked, what);
    pages = new Map();
    run += 1;
    active = -1;
    body.scrollTop = 0;
    start();
  }

  async function start() {
    const mine = run;
    const known = tokenizers[asked.tokenizer];
    grid.classList.toggle("uncounted", !known.has_counts);
    columns.forEach(([name], i) => {
      if (name !== asked.sort) heads[i].removeAttribute("aria-sort");
      else heads[i].setAttribute("aria-sort", asked.descending ? "descending" : "ascending");
    });
    try {
      if (asked.by === "hex" && !BYTES.test(asked.search)) {
        throw new Problem("These are not bytes yet.", "Write two digits per byte, as in e4 b8 ad.");
      }
      const answer = await rows(0, mine);
      if (mine !== run) return;
      total = answer.total;
    } catch (error) {
      if (mine !== run) return;
      total = 0;
      fill(problem, error instanceof Problem ? `${error.message} ${error.remedy ?? ""}` : String(error));
      problem.hidden = false;
      nothing.hidden = grid.hidden = true;
      fill(status);
      draw();
      return;
    }
    problem.hidden = true;
    const found = `${number(total)} of ${several(known.tokens, "token")}`;
    fill(status, asked.search ? found : vocabularySize(known));
    fill(nothing, total === 0 ? none() : "");
    nothing.hidden = total > 0;
    grid.hidden = total === 0;
    grid.setAttribute("aria-rowcount", total + 1);
    draw();
  }

  // The message if nothing was found.
  function none() {
    const searched = drawn(asked.search.trim());
    if (asked.by === "id") return `No token has the id ${searched}.`;
    if (asked.by === "hex") return `No token contains the bytes ${searched}.`;
    return `No token contains the text ${drawn(asked.search)}. See under Text how it is encoded.`;
  }

  // The answer with a page of rows; each is requested once.
  function rows(page, mine) {
    let answer = pages.get(page);
    if (answer === undefined) {
      answer = ask("vocabulary", { ...asked, start: page * PAGE, count: PAGE }).then((found) => {
        if (mine === run) {
          pages.set(page, found);
          if (page > 0) draw();
        }
        return found;
      });
      while (pages.size >= PAGES) pages.delete(pages.keys().next().value);
      pages.set(page, answer);
      answer.catch(() => pages.delete(page));
    }
    return answer;
  }

  function rowAt(i) {
    return pages.get(Math.floor(i / PAGE))?.rows?.[i % PAGE];
  }

  function draw() {
    spacer.style.height = `${total * HEIGHT}px`;
    const first = Math.max(0, Math.floor(body.scrollTop / HEIGHT) - 4);
    const after = Math.min(total, Math.ceil((body.scrollTop + body.clientHeight) / HEIGHT) + 4);
    const made = [];
    for (let i = first; i < after; i += 1) {
      const found = rowAt(i);
      if (!found) rows(Math.floor(i / PAGE), run);
      made.push(rowElement(i, found));
    }
    spacer.replaceChildren(...made);
    if (active >= first && active < after) body.setAttribute("aria-activedescendant", `row-${active}`);
    else body.removeAttribute("aria-activedescendant");
  }

  function rowElement(i, found) {
    const made = element("div", {
      "class": i === active ? "row active" : "row",
      "id": `row-${i}`,
      "role": "row",
      "aria-rowindex": i + 2,
    });
    made.number = i;
    made.style.transform = `translateY(${i * HEIGHT}px)`;
    if (!found) return made;
    const [id, hex, rank, count, isSpecial] = found;
    const bytes = fromHex(hex);
    const cell = (name, ...children) => element("span", { class: `cell ${name}`, role: "gridcell" }, ...children);
    made.append(
      cell("id", String(id)),
      cell("token", chip(bytes, id), isSpecial ? element("span", { class: "badge" }, "special") : ""),
      cell("hex", hex.replace(/..(?=.)/g, "$& ")),
      cell("bytes", number(bytes.length)),
      cell("rank", rank === null ? "–" : number(rank)),
      cell("count", count === null ? "–" : number(count)),
    );
    made.setAttribute("aria-label", `${tokenText(bytes)}, id ${id}, ${several(bytes.length, "byte")}`);
    return made;
  }

  function activate(i) {
    active = i;
    const top = i * HEIGHT;
    if (top < body.scrollTop) body.scrollTop = top;
    else if (top + HEIGHT > body.scrollTop + body.clientHeight) body.scrollTop = top + HEIGHT - body.clientHeight;
    draw();
  }

  function open(found) {
    if (found) location.hash = `tree/${asked.tokenizer}/${found[0]}`;
  }

  return {
    root,
    show() {
      if (run === 0) change({});
      else {
        body.scrollTop = scrolled;
        draw();
      }
    },
  };
}
