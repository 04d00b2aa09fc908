// SPDX-License-Identifier: Apache-2.0
//
// A node's bytes as text, JSON or hex.

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
