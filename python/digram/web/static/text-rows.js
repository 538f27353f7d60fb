// Any number of named texts: typed, pasted, or from files.

import { announce, element, textArea } from "./dom.js";
import { fileText, sentSize } from "./reader.js";

const MOST = 1_000_000; // bytes of all texts together when sent
const MOST_ROWS = 200; // the server has the same limit

export function textRows(samples, { onChange, onProblem }) {
  let made = 0;
  const list = element("ul", { class: "texts" });
  const root = element("div", {}, list);
  const add = element("button", { type: "button" }, "Add a text");
  const files = element("input", { type: "file", multiple: true, id: "languages-files" });
  const buttons = [add, element("label", { class: "field" }, element("span", {}, "or files"), files)];

  function row(name, text) {
    made += 1;
    const called = element("input", {
      "type": "text",
      "aria-label": `Name of text ${made}`,
      "placeholder": `Text ${made}`,
      "autocomplete": "off",
      "spellcheck": "false",
    });
    const area = textArea({ "aria-label": `Text ${made}`, "rows": "2" });
    const away = element("button", { type: "button" }, "Remove");
    [called.value, area.value] = [name, text];
    const item = element("li", { "data-row": made }, called, area, away);
    label();
    called.addEventListener("input", () => {
      label();
      onChange();
    });
    area.addEventListener("input", onChange);
    away.addEventListener("click", () => {
      const next = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      (next?.querySelector("button") ?? add).focus();
      announce(`${called.value || "The text"} was removed.`);
      onChange();
    });
    function label() {
      away.setAttribute("aria-label", `Remove ${called.value || "the text"}`);
    }
    list.append(item);
    return item;
  }

  add.addEventListener("click", () => {
    const item = row(freeName("Text"), "");
    item.querySelector("input").focus();
    item.querySelector("input").select();
    onChange();
  });
  files.addEventListener("click", () => {
    files.value = ""; // so that the same files can be chosen again after a change
  });
  files.addEventListener("change", async () => {
    try {
      if (files.files.length) take(await read([...files.files]));
    } catch (error) {
      onProblem(error);
    }
  });

  // Files replace the samples and rows without a text.
  function take(texts) {
    for (const item of [...list.children]) {
      const [name, text] = [item.querySelector("input").value, item.querySelector("textarea").value];
      if (text.trim() === "" || samples.some(([known, said]) => known === name && said === text)) item.remove();
    }
    for (const [name, text] of texts) row(freeName(name), text);
    onChange();
  }

  // Each text with its row, which identifies it when its name changes.
  function texts() {
    return [...list.children].map((item) => {
      const called = item.querySelector("input");
      const text = item.querySelector("textarea").value;
      return { row: item.dataset.row, name: called.value || called.placeholder, text };
    });
  }

  function freeName(name) {
    const used = new Set(texts().map((one) => one.name));
    let free = name;
    for (let i = 2; used.has(free); i += 1) free = `${name} ${i}`;
    return free;
  }

  for (const [name, text] of samples) row(name, text);
  return { root, buttons, texts };
}

// Files as texts by name. If they are too large to send, each is cut to the same number of lines, so
// that parallel texts stay parallel.
async function read(files) {
  if (files.length > MOST_ROWS) {
    throw new Error(`${files.length} files are more than ${MOST_ROWS}; use digram evaluate for more.`);
  }
  const found = [];
  for (const file of files) {
    const { text } = await fileText(file, MOST);
    found.push([file.name.replace(/\.[^.]+$/, "") || file.name, text.split(/(?<=\n)/)]);
  }
  const all = Math.max(0, ...found.map(([, lines]) => lines.length));
  const size = (count) => sentSize(found.map(([name, lines]) => [name, lines.slice(0, count).join("")]));
  let count = all;
  if (size(all) > MOST) {
    let most = all;
    for (count = 0; most - count > 1;) { // the maximum number of lines that can be sent
      const middle = Math.floor((count + most) / 2);
      if (size(middle) > MOST) most = middle;
      else count = middle;
    }
    announce(`The first ${count} lines of each file are used.`);
  }
  return found.map(([name, lines]) => [name, lines.slice(0, count).join("")]);
}
