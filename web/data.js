// SPDX-License-Identifier: Apache-2.0
//
// A node's bytes as text, JSON or hex, for display and for editing in a textarea.

export function fromBase64(text) {
  const binary = atob(text);
  const data = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) data[i] = binary.charCodeAt(i);
  return data;
}

export function toBase64(data) {
  let binary = "";
  for (let i = 0; i < data.length; i += 8192) binary += String.fromCharCode(...data.subarray(i, i + 8192));
  return btoa(binary);
}

export const textOf = (data) => new TextDecoder().decode(data);

export const prettyJson = (data) => JSON.stringify(JSON.parse(textOf(data)), null, 2);

// The forms that make sense, the best one first. Large JSON is not rewritten: numbers beyond 2^53 would change.
export function guess(data) {
  let text;
  try {
    text = new TextDecoder("utf-8", {fatal: true}).decode(data);
  } catch {
    return ["hex"];
  }
  if (/[\x00-\x08\x0e-\x1f]/.test(text)) return ["hex", "text"];
  const first = text.trimStart()[0];
  if ((first === "{" || first === "[") && !/\d{16}/.test(text)) {
    try {
      JSON.parse(text);
      return ["json", "text", "hex"];
    } catch {
      /* It only looks like it. */
    }
  }
  return ["text", "hex"];
}

// 00000000  7b 22 61 22 3a 31 7d                              {"a":1}
export function hexDump(data) {
  const lines = [];
  for (let at = 0; at < data.length; at += 16) {
    const part = [...data.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0"));
    const left = `${hex.slice(0, 8).join(" ")}  ${hex.slice(8).join(" ")}`.padEnd(49);
    const text = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${left} ${text}`);
  }
  return lines.join("\n");
}

// ---- editing -------------------------------------------------------------------------------------
//
// A form is {text, encode, note}: the text of the textarea, a function from edited text to bytes (or to an Error that
// says why it has none), and a note for the user. Bytes that were not edited do not change.

// Fills the textarea with the best form that gives the same bytes back, and returns the form.
export function beginEditing(area, data) {
  for (const form of [textForm(data), hexForm(data)]) {
    if (!form) continue;
    area.value = form.text;
    // A textarea changes line ends, so compare what it really holds.
    if (isSame(form.encode(area.value), data)) return form;
  }
  throw new Error("These bytes cannot be edited here.");
}

// None if the bytes are not text. A textarea ends lines with LF and shows no byte order mark: both are restored.
function textForm(data) {
  if (guess(data)[0] === "hex") return null;
  const whole = new TextDecoder("utf-8", {ignoreBOM: true}).decode(data);
  const mark = whole.startsWith("\ufeff") ? "\ufeff" : "";
  const end = whole.includes("\r\n") ? "\r\n" : "\n";
  const kept = [mark && "begins with a byte order mark", end === "\r\n" && "has lines that end with CRLF"];
  const facts = kept.filter(Boolean).join(" and ");
  return {
    text: whole.slice(mark.length).replaceAll(end, "\n"),
    encode: (edited) => new TextEncoder().encode(mark + edited.replaceAll("\n", end)),
    note: facts && `This text ${facts}. Saving preserves this.`,
  };
}

function hexForm(data) {
  const lines = [];
  for (let at = 0; at < data.length; at += 16)
    lines.push([...data.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" "));
  return {
    text: lines.join("\n"),
    encode: bytesOfHex,
    note: "This is not text, or a text field would change its line ends. Edit it as hex.",
  };
}

function bytesOfHex(text) {
  const pairs = text.split(/\s+/).filter(Boolean);
  const wrong = pairs.find((pair) => pair.length % 2 || /[^0-9a-f]/i.test(pair));
  if (wrong) throw new Error(`“${wrong.slice(0, 40)}” is not a byte in hex: use two digits of 0–9 and a–f.`);
  const digits = pairs.join("");
  const data = new Uint8Array(digits.length / 2);
  for (let i = 0; i < data.length; i++) data[i] = parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return data;
}

const isSame = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);
