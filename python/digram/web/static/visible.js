// Tokens as a person reads them: nothing unseen, and nothing that would rearrange the line.
// The same signs as in the terminal: · ↵ → ␀ ⟨E4⟩ ⟨U+202E⟩.

const BREAK_HERE = "\u200b"; // a line may break before a drawn space, as it may at one
const UNSEEN = /[\p{C}\p{Z}]/u;
const MARKS = new Map([[" ", "·"], ["\n", "↵"], ["\r", "␍"], ["\t", "→"]]);
const COMBINING = /^\p{M}/u;

// The pieces of a text as [what to draw, whether it stands for something unseen]. A text that runs on
// (`flows`) breaks where it has line feeds and spaces.
export function pieces(text, { flows = false } = {}) {
  if (!UNSEEN.test(text)) return text ? [[text, false]] : [];
  const found = [];
  const add = (drawn, isMark) => {
    const last = found.at(-1);
    if (last && last[1] === isMark) last[0] += drawn;
    else found.push([drawn, isMark]);
  };
  const characters = [...text];
  characters.forEach((character, i) => {
    if (!UNSEEN.test(character)) add(character, false);
    else if (character === " ") add(flows ? `${BREAK_HERE}·` : "·", true);
    else if (character === "\n") add(flows ? "↵\n" : "↵", true);
    else if (MARKS.has(character)) add(MARKS.get(character), true);
    else if (character < " ") add(String.fromCodePoint(0x2400 + character.codePointAt(0)), true);
    else if (character === "\x7f") add("␡", true);
    else if (joins(character, characters[i - 1], characters[i + 1])) {
      add(character, false);
    } else {
      const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      add(`⟨U+${code}⟩`, true);
    }
  });
  return found;
}

// A joiner between two things that are seen joins them, as in families of emoji; at the border of a
// token it has nothing to join, and shows.
function joins(character, before, after) {
  return /[\u200c\u200d]/.test(character) && isSeen(before) && isSeen(after);
}

function isSeen(character) {
  return character !== undefined && !UNSEEN.test(character);
}

export function drawn(text, options) {
  return pieces(text, options).map(([shown]) => shown).join("");
}

// A name, in which a space is no matter.
export function drawnName(text) {
  return text.split(" ").map((word) => drawn(word)).join(" ");
}

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// The pieces of a token by itself: bytes that are no whole character stand in brackets, and a mark
// that the token begins with sits on a circle.
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
      found.push([`⟨${hexByte(bytes[at]).toUpperCase()}⟩`, true]);
      start = at += 1;
    } else at += size;
  }
  flush(at);
  if (found.length && !found[0][1] && COMBINING.test(found[0][0])) found[0][0] = `◌${found[0][0]}`;
  return found;
}

// How many bytes the whole character that begins here has; 0 where none does.
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
  return tokenPieces(bytes).map(([shown]) => shown).join("");
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
