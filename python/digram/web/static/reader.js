// The user's text, which the views share; it is kept in the tab's storage for a reload.

const KEPT = "digram text";
const SAMPLE = `Type or paste a text here. Tokenizers cut it into tokens, and each token has an id.

Patient received 0.75mg of paracetamol at 08:30; temperature 38.5°C.
def tokenize(text):
    return [ids[word] for word in text.split()]
敏捷的棕色狐狸跳过懒狗。 Η γρήγορη αλεπού. الثعلب البني السريع 🦊👩‍👩‍👧 naïve café
`;

let text = null;

export function kept() {
  text ??= sessionStorage.getItem(KEPT) ?? SAMPLE;
  return text;
}

export function keep(given) {
  text = given;
  try {
    sessionStorage.setItem(KEPT, given);
  } catch {
    sessionStorage.removeItem(KEPT); // too large for the storage
  }
}

// The beginning of the text: whole lines, up to a number of characters.
export function opening(most) {
  const whole = kept();
  return whole.length <= most ? whole : wholeLines(whole.slice(0, most));
}

// A lone surrogate is not a character, and cannot be encoded as UTF-8.
export function wellFormed(given) {
  return given.toWellFormed?.() ?? given;
}

// A file as text, and whether it is complete. Otherwise it is the beginning, of at most `most` bytes
// when sent, cut at the end of a line if possible.
export async function fileText(file, most) {
  const found = await file.slice(0, most).text();
  let text = found.replaceAll("\r\n", "\n").replace(/^\ufeff/, "");
  let whole = file.size <= most;
  if (!whole) text = wholeLines(text);
  while (sentSize(text) > most) {
    text = wholeLines(text.slice(0, Math.floor((text.length * most) / sentSize(text))));
    whole = false;
  }
  return { text, whole };
}

// The whole lines, or characters, of a text that was cut anywhere.
function wholeLines(text) {
  return text.slice(0, text.lastIndexOf("\n") + 1) || wellFormed(text).replace(/\ufffd+$/, "");
}

// The number of bytes of a text in a question.
export function sentSize(given) {
  return new TextEncoder().encode(JSON.stringify(given)).length;
}
