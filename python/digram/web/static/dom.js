// Elements with text. Text never becomes markup: `append` makes text nodes of strings.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function fill(parent, ...children) {
  parent.replaceChildren(...children);
  return parent;
}

export function number(value) {
  return value.toLocaleString("en");
}

export function several(value, noun) {
  return `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
}

// The size of a vocabulary; it exceeds the number of tokens if some ids have no token.
export function vocabularySize({ tokens, vocab_size: size }) {
  if (size === tokens) return several(tokens, "token");
  const unused = several(size - tokens, "id");
  return `${several(tokens, "token")} (size ${number(size)}: ${unused} ${size - tokens === 1 ? "has" : "have"} no token)`;
}

// Text that matters less.
export function quiet(text) {
  return element("span", { class: "quiet" }, text);
}

// Announces a change to screen readers; it is visible on the page too.
export function announce(text) {
  document.getElementById("said").textContent = text;
}

// A labelled choice between [value, text] pairs.
export function choice(label, options, onChange) {
  const select = element(
    "select",
    {},
    ...options.map(([value, title]) => element("option", { value }, title)),
  );
  select.addEventListener("change", () => onChange(select.value));
  return { select, field: element("label", { class: "field" }, element("span", {}, label), select) };
}

// A text field without autocorrection.
export function textArea(attributes) {
  const plain = { spellcheck: "false", autocapitalize: "off", autocomplete: "off" };
  return element("textarea", { ...plain, ...attributes });
}

// The place of a view for errors.
export function problemLine() {
  const root = element("p", { class: "problem", role: "alert", hidden: true });
  return {
    root,
    show(error) {
      fill(root, error.message ?? String(error), error.remedy ? ` ${error.remedy}` : "");
      root.hidden = false;
    },
    clear() {
      root.hidden = true;
    },
  };
}

// Calls `action` once typing has paused.
export function settled(action, milliseconds) {
  let waiting;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(action, milliseconds);
  };
}
