// Tokens as visible text: nothing is invisible, and nothing rearranges the line.
// The same symbols as in the terminal: · ↵ → ␀ ⟨E4⟩ ⟨U+202E⟩.

const UNSEEN = /[\p{C}\p{Z}]/u;
const SPACES = /^\p{Zs}$/u;
const MARKS = new Map([[" ", "·"], ["\n", "↵"], ["\r", "␍"], ["\t", "→"]]);
const COMBINING = /^\p{M}/u;

// The pieces of a text as [the text itself, what to draw for it; null to draw the text itself].
export function pieces(text) {
  if (!UNSEEN.test(text)) return text ? [[text, null]] : [];
  const found = [];
  const characters = [...text];
  characters.forEach((character, i) => {
    const sign = UNSEEN.test(character) ? signOf(character, characters[i - 1], characters[i + 1]) : null;
    const last = found.at(-1);
    if (sign === null && last?.[1] === null) last[0] += character;
    else if (character === " " && isSpaces(last)) {
      last[0] += character;
      last[1] += sign;
    } else found.push([character, sign]);
  });
  return found;
}

function isSpaces(piece) {
  return piece !== undefined && piece[1] !== null && piece[0].endsWith(" ");
}

function signOf(character, before, after) {
  if (MARKS.has(character)) return MARKS.get(character);
  if (character < " ") return String.fromCodePoint(0x2400 + character.codePointAt(0));
  if (character === "\x7f") return "␡";
  if (joins(character, before, after)) return null;
  return `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

// Puts pieces into an element. Style draws the dots of spaces over the spaces themselves, so that the
// browser finds and copies the text. With `own` this holds for all other symbols too: the element has
// their text without a width, in a separate box if it would rearrange the line.
export function draw(made, drawing, { own = false } = {}) {
  for (const piece of drawing) {
    const [text, sign] = piece;
    if (sign === null) made.append(text);
    else if (isSpaces(piece)) made.append(mark("mark space", text));
    else if (!own || text === "") made.append(mark("mark", sign));
    else {
      const isHarmless = text === "\n" || text === "\t" || SPACES.test(text);
      const signed = mark(isHarmless ? "mark signed" : "mark signed apart", text);
      signed.dataset.sign = sign;
      made.append(signed);
    }
  }
  return made;
}

function mark(kind, text) {
  const made = document.createElement("span");
  made.className = kind;
  made.textContent = text;
  return made;
}

// A joiner between two visible characters joins them, as in family emoji; at the boundary of a token
// it joins nothing, and is shown as a symbol.
function joins(character, before, after) {
  return /[\u200c\u200d]/.test(character) && isSeen(before) && isSeen(after);
}

function isSeen(character) {
  return character !== undefined && !UNSEEN.test(character);
}

export function drawn(text) {
  return shownOf(pieces(text));
}

function shownOf(drawing) {
  return drawing.map(([text, sign]) => sign ?? text).join("");
}

// A name, in which spaces are shown as they are.
export function drawnName(text) {
  return text.split(" ").map((word) => drawn(word)).join(" ");
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The pieces of a token by itself: bytes that are not a whole character are in brackets, and a mark
// at the start of the token is placed on a circle.
export function tokenPieces(bytes) {
  const found = [];
  let start = 0;
  const flush = (end) => {
    if (end > start) found.push(...pieces(STRICT.decode(bytes.subarray(start, end))));
  };
  let at = 0;
  while (at < bytes.length) {
    const size = characterAt(bytes, at);
    if (size === 0) {
      flush(at);
      found.push(["", `⟨${hexByte(bytes[at]).toUpperCase()}⟩`]);
      start = at += 1;
    } else at += size;
  }
  flush(at);
  if (found.length && found[0][1] === null && COMBINING.test(found[0][0])) found[0][0] = `◌${found[0][0]}`;
  return found;
}

// The number of bytes of the whole character that begins here; 0 if none does.
function characterAt(bytes, at) {
  const first = bytes[at];
  const size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size === 0 || at + size > bytes.length) return 0;
  try {
    STRICT.decode(bytes.subarray(at, at + size));
    return size;
  } catch {
    return 0;
  }
}

export function tokenText(bytes) {
  return shownOf(tokenPieces(bytes));
}

export function hexByte(value) {
  return value.toString(16).padStart(2, "0");
}

export function toHex(bytes) {
  return Array.from(bytes, hexByte).join(" ");
}

export function fromHex(hex) {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
