// SPDX-License-Identifier: Apache-2.0
//
// Requests to the server that this page came from, and to no other.
//
// Credentials are entered in the page and live in this module only: not in a cookie, which other pages could make
// the browser send, and not in storage, which outlives the visit.

let credentials = null; // "digest user:password" or "sasl ...", a character for each byte of it in UTF-8
let reachable = true;
const listeners = new Set();

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const hasCredentials = () => credentials !== null;
// Throws if a request cannot carry the text. A header takes bytes, and a digest is computed from UTF-8.
export function setCredentials(scheme, secret) {
  if (secret && /[\x00-\x20\x7f]/.test(secret))
    throw new ApiError(0, "BadInput", "Blanks and control characters cannot be sent over HTTP.");
  credentials = secret ? `${scheme} ${latin1OfUtf8(secret)}` : null;
}
const latin1OfUtf8 = (text) =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");

// Called with true or false whenever the server is lost or comes back.
export function onReachable(listener) {
  listeners.add(listener);
}
function tell(now) {
  if (now === reachable) return;
  reachable = now;
  for (const listener of listeners) listener(now);
}
export const isReachable = () => reachable;

function headers(more) {
  return {...(credentials ? {Authorization: credentials} : {}), ...more};
}

export async function open(path, options = {}) {
  let response;
  try {
    response = await fetch(`api/${path}`, {
      ...options,
      headers: headers(options.headers),
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    tell(false);
    throw new ApiError(0, "unreachable", "The server does not answer.");
  }
  tell(true);
  if (response.ok) return response;
  let told = {};
  try {
    told = await response.json();
  } catch {
    /* Not ours: the status has to do. */
  }
  throw new ApiError(
    response.status,
    told.error ?? `http${response.status}`,
    told.message ?? `The server answered ${response.status}.`,
  );
}

const query = (parameters) => {
  const given = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export async function get(name, parameters, signal) {
  const timeout = AbortSignal.timeout(15000);
  const response = await open(name + query(parameters), {signal: signal ? either(signal, timeout) : timeout});
  return response.json();
}

function either(a, b) {
  const both = new AbortController();
  for (const signal of [a, b]) {
    if (signal.aborted) both.abort(signal.reason);
    signal.addEventListener("abort", () => both.abort(signal.reason), {once: true});
  }
  return both.signal;
}

// The header is one that a form or a link of another site cannot send.
const changing = {"X-Drover-Request": "dashboard"};

export async function setData(path, base64, version) {
  const response = await open("node", {
    method: "PUT",
    headers: {...changing, "Content-Type": "application/json"},
    body: JSON.stringify({path, data: base64, version}),
  });
  return response.json();
}

export async function remove(path, version) {
  const response = await open(`node${query({path, version})}`, {method: "DELETE", headers: changing});
  return response.json();
}
