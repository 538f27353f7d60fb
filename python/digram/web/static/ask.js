// Questions to the server, with the token of this run.

const KEPT = "digram token";
const LARGEST = 1 << 20; // bytes; the server has the same limit
const TRIES = 4; // of a question, while the server is busy

// An error of the server: the message, and the remedy.
export class Problem extends Error {
  constructor(message, remedy, kind) {
    super(message);
    this.remedy = remedy;
    this.kind = kind;
  }
}

// The token is in the address after the #. It is moved into the storage of this tab, so that it is
// neither visible nor in the history.
export function takeToken() {
  const found = location.hash.slice(1);
  if (/^[\w-]{32}$/.test(found)) {
    sessionStorage.setItem(KEPT, found);
    history.replaceState(null, "", "/");
  }
}

// Retries automatically while the server is busy; the server says when.
export async function ask(question, args, { signal } = {}) {
  const body = new TextEncoder().encode(JSON.stringify(args));
  if (body.length > LARGEST) {
    throw new Problem(
      `This text takes ${body.length.toLocaleString("en")} bytes, and the page accepts up to 1 MiB.`,
      "For longer texts use digram count and digram encode.",
    );
  }
  for (let left = TRIES - 1; ; left -= 1) {
    const response = await send(question, body, signal);
    const seconds = Number(response.headers.get("retry-after"));
    if (response.status !== 503 || !seconds || left === 0) return answerOf(response);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    signal?.throwIfAborted();
  }
}

async function send(question, body, signal) {
  try {
    return await fetch(`/api/${question}`, {
      method: "POST",
      headers: {
        "authorization": `Bearer ${sessionStorage.getItem(KEPT) ?? ""}`,
        "content-type": "application/json",
      },
      body,
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer.", "Start digram serve again, and open the address that it prints.");
  }
}

async function answerOf(response) {
  let answer;
  try {
    answer = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(`The server answers with status ${response.status}.`, "Load the page again.");
  }
  if (answer.error) throw new Problem(answer.error.message, answer.error.remedy, answer.error.kind);
  return answer;
}

// Only the last question of a kind matters: each cancels the previous one. A cancelled question gives
// null.
export function latest() {
  let running = null;
  return async (question, args) => {
    running?.abort();
    const mine = (running = new AbortController());
    try {
      const answer = await ask(question, args, { signal: mine.signal });
      return mine === running ? answer : null;
    } catch (error) {
      if (mine !== running || error.name === "AbortError") return null;
      throw error;
    }
  };
}
