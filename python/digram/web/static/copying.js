// A button that copies the result of a function, and reports whether it succeeded.

import { announce, element, fill } from "./dom.js";

const SAID = 1500; // milliseconds

export function copyButton(text, { label, copied, otherwise }) {
  const root = element("button", { "class": "copy", "type": "button", "aria-label": label }, "Copy");
  root.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      announce(copied);
      fill(root, "Copied");
    } catch {
      announce(`The browser does not allow copying; ${otherwise}.`);
      fill(root, "Not allowed");
    }
    setTimeout(() => fill(root, "Copy"), SAID);
  });
  return root;
}
