// SPDX-License-Identifier: Apache-2.0
//
// Live updates: one stream of events for the whole page.
//
// EventSource cannot send credentials in a header, so the stream is read with fetch(). It is reopened when other
// paths are shown, and retried while the server is away.

import {isReachable, open} from "./api.js";

const kPathsMax = 200;
const kAddressMax = 8000; // of the request: a header has a limit
const kRetryMs = 1000;

let paths = ""; // as asked for: encoded, one on a line
let stream = null;
let seen = null; // the zxid up to which everything shown is known to be right
const listeners = {node: new Set(), role: new Set(), back: new Set()};

// kind "node": {path, exists, …}; "role": this server's role or epoch changed; "back": the stream was reopened, so
// everything on the page may be old.
export function on(kind, listener) {
  listeners[kind].add(listener);
  return () => listeners[kind].delete(listener);
}

export function watch(wanted) {
  let joined = "";
  for (const path of [...new Set(wanted)].slice(0, kPathsMax)) {
    const longer = joined ? `${joined}%0A${encodeURIComponent(path)}` : encodeURIComponent(path);
    if (longer.length < kAddressMax) joined = longer;
  }
  if (joined === paths && stream) return;
  paths = joined;
  restart();
}

// The first data on the page has this zxid. The stream reports every later change, even from before it was opened.
export function beginAt(zxid) {
  seen ??= zxid;
}

export function restart() {
  stream?.abort();
  stream = new AbortController();
  follow(stream.signal);
}

async function follow(signal) {
  let broken = false;
  while (!signal.aborted) {
    try {
      const since = seen ? `&since=${seen}` : "";
      const response = await open(`events?paths=${paths}${since}`, {signal});
      if (broken) tell("back", {});
      broken = false;
      await read(response.body.getReader());
    } catch (error) {
      if (signal.aborted) return;
      if (error.status >= 400 && error.status < 500) return;
    }
    broken = broken || !signal.aborted;
    if (!signal.aborted) await wait(kRetryMs, signal);
  }
}

async function read(reader) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    text += decoder.decode(value, {stream: true});
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) handle(event);
  }
}

function handle(block) {
  let kind = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) kind = line.slice(7);
    if (line.startsWith("id: ")) seen = line.slice(4);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (data && listeners[kind]) tell(kind, JSON.parse(data));
}

function tell(kind, data) {
  for (const listener of [...listeners[kind]]) listener(data);
}

function wait(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), {once: true});
  });
}

// Calls `look` now and then repeatedly, never twice at the same time, until `signal` is aborted. A hidden page does
// not poll.
export async function poll(ms, signal, look) {
  while (!signal.aborted) {
    if (!document.hidden) {
      try {
        await look();
      } catch (error) {
        if (error.name !== "AbortError" && isReachable()) console.debug(error);
      }
    }
    await wait(ms, signal);
  }
}
