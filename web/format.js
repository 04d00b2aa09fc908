// SPDX-License-Identifier: Apache-2.0
//
// Numbers, times and bytes as people read them.

const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const one = new Intl.NumberFormat("en", {maximumFractionDigits: 1});
const two = new Intl.NumberFormat("en", {maximumFractionDigits: 2});

export const count = (n) => (n === null || n === undefined ? "–" : whole.format(n));
export const plural = (n, noun, many = `${noun}s`) => `${count(n)} ${n === 1 ? noun : many}`;

export function short(n) {
  if (n === null || n === undefined) return "–";
  const size = Math.abs(n);
  if (size >= 1e9) return `${one.format(n / 1e9)}G`;
  if (size >= 1e6) return `${one.format(n / 1e6)}M`;
  if (size >= 1e4) return `${one.format(n / 1e3)}k`;
  return size >= 100 || Number.isInteger(n) ? whole.format(n) : two.format(n);
}

export function bytes(n) {
  if (n < 1024) return plural(n, "byte");
  return n < 1 << 20 ? `${one.format(n / 1024)} KiB` : `${one.format(n / (1 << 20))} MiB`;
}

export function duration(ms) {
  if (ms < 0) ms = 0;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} days`;
}

export const ago = (ms, now) =>
  !(ms > 0) ? "–" : now - ms < 2000 ? "just now" : `${duration(now - ms)} ago`;

// Local time in ISO order: 2026-11-15 20:55:54.
export function time(ms) {
  if (!ms) return "–";
  const t = new Date(ms);
  const pad = (n) => String(n).padStart(2, "0");
  return (
    `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())} ` +
    `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}`
  );
}

export const clock = (ms) => time(ms).slice(11);

// 0x500000007 is epoch 5, transaction 7.
export function zxidParts(zxid) {
  const value = BigInt(zxid);
  return {epoch: Number(value >> 32n), counter: Number(value & 0xffffffffn)};
}

// The kinds of nodes and their names.
export const modeName = (mode) => mode.replace("-", " ");
