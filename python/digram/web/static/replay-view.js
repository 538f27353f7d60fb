// A replay of training on a text: merge by merge, with the effect of each.

import { latest } from "./ask.js";
import { chip } from "./details.js";
import { announce, choice, element, fill, number, quiet, several } from "./dom.js";
import { equation, nextPair, pair } from "./merges.js";
import { stepper } from "./stepper.js";
import { textForm } from "./text-form.js";
import { fromHex } from "./visible.js";

const SPEEDS = [[1, "1 merge per second"], [3, "3 per second"], [10, "10 per second"], [30, "30 per second"]];
const LATEST = 60; // tokens of the vocabulary to show
const LINE_FEED = 10;

export function replayView(tokenizers) {
  const asking = latest();
  let played = null;
  let bytes = new Uint8Array();
  let gone = new Map(); // the frame at which a boundary between two tokens goes away
  let ticking = null;
  // Slow if reduced motion is preferred; nothing moves without a click.
  let speed = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1 : 3;

  const stage = element("p", { class: "stage", tabindex: "0", role: "group", "aria-label": "The text in tokens" });
  const slider = element("input", { type: "range", id: "frame", min: "0", max: "0", value: "0" });
  const controls = stepper({ name: "merge", show });
  const play = element("button", { type: "button", id: "play" }, "Play");
  const pace = choice("Speed", SPEEDS, (value) => {
    speed = Number(value);
    if (ticking !== null) start();
  });
  pace.select.value = String(speed);
  const facts = element("dl", { class: "counts" });
  const merge = element("div", { class: "merge" });
  const pairs = element("div", { class: "pairs" });
  const learned = element("div", { class: "sheet learned" });
  const results = element(
    "div",
    { class: "results", hidden: true },
    element(
      "div",
      { class: "sheet" },
      element("div", { class: "bar" }, play, pace.field, controls.root),
      element("label", { class: "field slide" }, element("span", {}, "Merges"), slider),
      facts,
      stage,
    ),
    element("div", { class: "sheet moment" }, merge, pairs),
    learned,
  );
  const form = textForm({
    id: "replay",
    name: "Replay",
    tokenizers,
    pause: 250,
    results,
    ask(question) {
      stop();
      return asking("replay", question);
    },
    answered,
  });

  play.addEventListener("click", () => (ticking === null ? start() : stop()));
  slider.addEventListener("input", () => {
    stop();
    controls.to(Number(slider.value));
  });

  function answered(answer) {
    const { frames, merges } = answer;
    played = answer;
    bytes = fromHex(answer.hex);
    gone = new Map(frames.flatMap(({ joined }, frame) => joined.map((place) => [place, frame])));
    results.hidden = bytes.length === 0;
    slider.max = String(frames.length);
    controls.to(0, frames.length);
    return `${number(frames.length)} of ${several(merges, "merge")} apply to this text`;
  }

  // Plays from the current merge, or from the first, to the last, until the user does something else.
  function start() {
    clearInterval(ticking);
    if (Number(slider.value) >= played.frames.length) controls.to(0);
    ticking = setInterval(() => {
      if (!form.root.isConnected || Number(slider.value) >= played.frames.length) stop();
      else controls.to(Number(slider.value) + 1);
    }, 1000 / speed);
    fill(play, "Pause");
  }

  function stop() {
    clearInterval(ticking);
    ticking = null;
    fill(play, "Play");
  }

  // Shows the state after this number of merges, and the next merge.
  function show(at, by) {
    if (by === "person") stop();
    const next = played.frames[at];
    const before = played.frames[at - 1];
    slider.value = String(at);
    slider.setAttribute("aria-valuetext", `${number(at)} of ${several(played.frames.length, "merge")}`);
    const tokens = drawText(at);
    const known = before ? before.vocab_size : played.base;
    const size = next ? known : played.vocab_size; // includes merges that do not apply to the text
    fill(
      facts,
      count("tokens of the text", number(tokens)),
      count("size of the vocabulary", number(size)),
      count("bytes per token", (bytes.length / tokens).toFixed(2)),
    );
    fill(merge, ...(next ? told(next) : ended()));
    fill(pairs, next ? frequent(next) : "");
    fill(learned, ...vocabulary(played.frames.slice(0, at), size));
    if (by !== "person") return;
    announce(`${several(tokens, "token")}. ${next ? said(next) : "No merge is left."}`);
  }

  // Draws the text after this number of merges, and returns its number of tokens.
  function drawText(at) {
    const ends = played.borders.filter((place) => !(gone.get(place) < at));
    ends.push(bytes.length);
    const next = new Set(played.frames[at]?.joined);
    const made = [];
    let start = 0;
    let marked = false;
    ends.forEach((end) => {
      if (end === start) return;
      const one = chip(bytes.subarray(start, end), start);
      if (marked || next.has(end)) one.classList.add("there");
      marked = next.has(end);
      made.push(one);
      if (bytes[end - 1] === LINE_FEED) made.push(element("br"));
      start = end;
    });
    fill(stage, ...made);
    return ends.length - (bytes.length === 0);
  }

  function told(frame) {
    const { training, times, skipped } = frame;
    const where = `${several(times, "time")} in this text`;
    const counted = training.count === null ? "" : `; counted ${number(training.count)} times in training`;
    const [after] = training.runners_up;
    return [
      element("h2", {}, "Next merge"),
      element("p", {}, ...equation(frame), quiet(` rank ${number(frame.rank)}, ${where}${counted}`)),
      after
        ? element("p", { class: "quiet" }, "Next in training: ", ...pair(after), `, counted ${number(after.count)} times`)
        : "",
      skipped
        ? element("p", { class: "quiet" }, `${several(skipped, "merge")} before it ${skipped === 1 ? "does" : "do"} not apply to this text.`)
        : "",
    ];
  }

  function ended() {
    const after = played.merges - 1 - (played.frames.at(-1)?.rank ?? -1);
    return [
      element("h2", {}, "No merge is left"),
      element("p", { class: "quiet" }, "These are the tokens of the tokenizer."),
      after > 0
        ? element("p", { class: "quiet" }, `The last ${several(after, "merge")} do not apply to this text.`)
        : "",
    ];
  }

  return form;
}

// The learned tokens, the latest first.
function vocabulary(frames, size) {
  const latest = frames.slice(-LATEST).reverse();
  const rest = frames.length > LATEST ? `, the latest ${LATEST}` : "";
  return [
    element("h2", {}, `Vocabulary, of size ${number(size)}`),
    element("p", { class: "quiet" }, frames.length ? `Learned so far and used in this text${rest}:` : "Before the first merge"),
    element("p", { class: "chips" }, ...latest.flatMap(({ hex, rank }) => [chip(fromHex(hex), rank), " "])),
  ];
}

// The most frequent pairs of the text before a merge.
function frequent(frame) {
  const most = Math.max(1, ...frame.pairs.map((one) => one.count));
  return element(
    "table",
    {},
    element("caption", {}, element("span", {}, "Most frequent pairs of this text")),
    element("thead", {}, element("tr", {}, ...["pair", "count", "rank"].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...frame.pairs.map((one) => row(one, frame, most))),
  );
}

function row(one, frame, most) {
  const bar = element("span", { class: "bar-of s0" });
  bar.style.width = `${(100 * one.count) / most}%`;
  const isNext = one.rank === frame.rank;
  return element(
    "tr",
    { class: isNext ? "now" : null },
    element("th", { scope: "row" }, ...pair(one), isNext ? element("span", { class: "badge" }, "next") : ""),
    element("td", { class: "counted" }, element("span", { class: "track" }, bar), number(one.count)),
    element("td", {}, one.rank === null ? "never merged" : number(one.rank)),
  );
}

function said(frame) {
  return `${nextPair(frame)}, rank ${number(frame.rank)}, ${several(frame.times, "time")} in this text`;
}

function count(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}
