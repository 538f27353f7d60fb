// Stepping through items: buttons, keys, and the current position.

import { element, fill, number } from "./dom.js";

// `show(at, by)` is called for each position; `by` is "person" if the user chose it.
export function stepper({ name, show }) {
  let [at, last] = [0, 0];
  const buttons = [
    ["⏮", `First ${name}`, () => 0],
    ["‹", `Previous ${name}`, () => at - 1],
    ["›", `Next ${name}`, () => at + 1],
    ["⏭", `Last ${name}`, () => last],
  ].map(([sign, title, target]) => {
    const made = element("button", { "type": "button", "aria-label": title, "title": title }, sign);
    made.addEventListener("click", () => go(target()));
    return made;
  });
  const where = element("span", { class: "quiet where" });
  const root = element(
    "div",
    { "class": "stepper", "role": "group", "aria-label": `Go from ${name} to ${name}; the arrow keys do, too` },
    ...buttons,
    where,
  );
  root.tabIndex = 0;
  root.addEventListener("keydown", (event) => {
    const keys = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last };
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(keys[event.key]);
  });

  function go(to, by = "person") {
    at = Math.min(last, Math.max(0, to));
    // A button with the focus stays enabled, so that keys continue to work.
    buttons.forEach((one, i) => one.setAttribute("aria-disabled", i < 2 ? at === 0 : at === last));
    fill(where, `${number(at)} of ${number(last)}`);
    show(at, by);
  }

  return {
    root,
    to(place, end = last) {
      last = end;
      go(place, "program");
    },
  };
}
