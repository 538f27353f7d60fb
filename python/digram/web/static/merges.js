// A merge in chips and in words.

import { chip } from "./details.js";
import { fromHex, tokenText } from "./visible.js";

export function pair({ left, right }) {
  return [chip(fromHex(left), 0), " + ", chip(fromHex(right), 1)];
}

export function equation(merge) {
  return [...pair(merge), " → ", chip(fromHex(merge.hex), 2)];
}

// The pair of the next merge, for screen readers.
export function nextPair(merge) {
  const [left, right] = [merge.left, merge.right].map((hex) => tokenText(fromHex(hex)));
  return `Next: ${left} and ${right}`;
}
