// A table of texts that scrolls in its own box and can be copied into a spreadsheet.

import { copyButton } from "./copying.js";
import { element, fill } from "./dom.js";

export function table(caption) {
  const title = element("span", {}, caption);
  let cells = [];
  const head = element("thead", {});
  const body = element("tbody", {});
  const copy = copyButton(() => cells.map((row) => row.join("\t")).join("\n"), {
    copied: "The table was copied.",
    otherwise: "select the table and copy it",
  });
  const said = element("caption", {}, title, copy);
  const root = element(
    "div",
    { "class": "sheet table", "tabindex": "0", "role": "group", "aria-label": caption },
    element("table", {}, said, head, body),
  );
  return {
    root,
    // The caption, the names of the columns, and rows with as many texts, the first of which is a heading.
    show(told, names, rows) {
      cells = [names, ...rows];
      fill(title, told);
      fill(head, element("tr", {}, ...names.map((name) => element("th", { scope: "col" }, name))));
      fill(
        body,
        ...rows.map(([first, ...rest]) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, first),
            ...rest.map((value) => element("td", {}, value)),
          ),
        ),
      );
    },
  };
}
