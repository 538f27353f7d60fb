// The text of the reader, which views share; the tab keeps it, so that it is there after a reload.

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
    sessionStorage.removeItem(KEPT); // more than a browser keeps
  }
}

// How it begins: whole lines, up to so many characters.
export function opening(most) {
  const whole = kept();
  return whole.length <= most ? whole : wholeLines(whole.slice(0, most));
}

// Half a surrogate pair is not a character, and no UTF-8.
export function wellFormed(given) {
  return given.toWellFormed?.() ?? given;
}

// A file as text, and whether all of it is there: else it is its beginning, of at most `most` bytes as
// they are sent, and of whole lines where it has lines.
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

// What is left of a text that was cut somewhere.
function wholeLines(text) {
  return text.slice(0, text.lastIndexOf("\n") + 1) || wellFormed(text).replace(/\ufffd+$/, "");
}

// How many bytes a text takes in a question.
export function sentSize(given) {
  return new TextEncoder().encode(JSON.stringify(given)).length;
}
