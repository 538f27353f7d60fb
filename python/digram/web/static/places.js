// The places of tokens in a text, the characters that they share, and where tokenizers differ.
// Nothing here changes the page.

// The places of tokens of these sizes in bytes: `starts` are byte offsets, with the end of the last;
// `from` and `to` are offsets in UTF-16 code units. A token covers every character of which it has a
// byte, so tokens that share a character overlap there.
export function places(text, sizes) {
  const n = sizes.length;
  const starts = new Uint32Array(n + 1);
  const from = new Uint32Array(n);
  const to = new Uint32Array(n);
  let at = 0; // the character
  let byte = 0; // where it starts
  let width = widthAt(text, 0);
  for (let i = 0; i < n; i += 1) {
    const start = starts[i];
    const end = (starts[i + 1] = start + sizes[i]);
    while (at < text.length && byte + width <= start) {
      byte += width;
      at += width === 4 ? 2 : 1;
      width = widthAt(text, at);
    }
    from[i] = at;
    while (at < text.length && byte + width <= end) {
      byte += width;
      at += width === 4 ? 2 : 1;
      width = widthAt(text, at);
    }
    to[i] = at + (at < text.length && byte < end ? (width === 4 ? 2 : 1) : 0);
  }
  return { starts, from, to };
}

// The number of bytes in UTF-8 of the character at an offset.
function widthAt(text, at) {
  const unit = text.charCodeAt(at); // NaN at the end, which takes the last branch
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  if (unit >= 0xd800 && unit < 0xdc00) return 4;
  return 3;
}

// Cells, which are drawn as one: a token, or several that share characters. `firsts` are their first
// tokens, followed by the number of all tokens.
export function cells({ from, to }) {
  const firsts = [];
  for (let i = 0; i < from.length; i += 1) {
    if (i === 0 || from[i] >= to[i - 1]) firsts.push(i);
  }
  firsts.push(from.length);
  return firsts;
}

// The stretches, in bytes, that tokenizers split differently: between two boundaries that all share,
// if some tokenizer has several tokens there.
export function disagreements(borders) {
  if (borders.length < 2) return [];
  const found = [];
  const at = borders.map(() => 0);
  const [first] = borders;
  let before = 0;
  for (let i = 1; i < first.length; i += 1) {
    const border = first[i];
    if (border === before) continue;
    const common = borders.every((one, k) => {
      let j = at[k];
      while (j < one.length && one[j] < border) j += 1;
      return one[j] === border;
    });
    if (!common) continue;
    let most = 0;
    borders.forEach((one, k) => {
      let j = at[k];
      while (one[j] < border) j += 1;
      most = Math.max(most, j - at[k]);
      at[k] = j;
    });
    if (most > 1) found.push([before, border]);
    before = border;
  }
  return found;
}

export const RING = 1;
export const RING_BEGINS = 2;
export const RING_ENDS = 4;

// For each token whether it is in such a stretch, begins it, or ends it.
export function rings(starts, stretches) {
  const flags = new Uint8Array(starts.length - 1);
  let i = 0;
  for (const [start, end] of stretches) {
    while (starts[i] < start) i += 1;
    flags[i] |= RING_BEGINS;
    while (i < flags.length && starts[i] < end) flags[i++] |= RING;
    flags[i - 1] |= RING_ENDS;
  }
  return flags;
}

// The index of the last sorted number that is at most `value`.
export function lastAtMost(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
