// Bars of several series, grouped by name, with their values beside them.

import { swatch } from "./chart.js";
import { element, fill } from "./dom.js";

export function bars(series) {
  const legend = element("ul", { class: "legend" }, ...series.map((name, i) => element("li", {}, swatch(i), name)));
  const list = element("dl", { class: "bars" });
  const root = element("div", { class: "chart" }, series.length > 1 ? legend : "", list);
  return {
    root,
    // One row per name: the name, and a value or null for each series.
    show(rows, tell, title) {
      list.setAttribute("aria-label", title);
      const most = Math.max(...rows.flatMap(([, values]) => values.map((value) => value ?? 0))) || 1;
      fill(
        list,
        ...rows.map(([name, values]) =>
          element(
            "div",
            {},
            element("dt", {}, name),
            ...values.map((value, i) => bar(series, i, value, most, tell)),
          ),
        ),
      );
    },
  };
}

function bar(series, i, value, most, tell) {
  const shown = element("span", { class: `bar-of s${i % 6}` });
  shown.style.width = `${(100 * (value ?? 0)) / most}%`;
  return element(
    "dd",
    {},
    element("span", { class: "track" }, shown),
    element("span", { class: "unseen" }, `${series[i]} `),
    element("span", { class: "value" }, swatch(i), value === null ? "–" : tell(value)),
  );
}
