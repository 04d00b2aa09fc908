// SPDX-License-Identifier: Apache-2.0
//
// Creates elements. Text always becomes a text node: nothing on this page is parsed as HTML, so a node named
// <script> is shown and not run.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

// h("button", {class: "quiet", onclick: go}, "Go")
export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const svg = (tag, properties, ...children) =>
  fill(document.createElementNS(SVG, tag), properties, children);

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

// Replaces only what differs, so that focus and selection survive updates that change nothing.
export function update(element, key, make) {
  if (element.dataset.shown === key) return;
  element.dataset.shown = key;
  replace(element, make());
}

export const loading = (what) => h("p", {class: "state loading", role: "status"}, `Loading ${what}…`);
export const empty = (text, ...more) => h("p", {class: "state empty"}, text, more);
export const failure = (error, again) =>
  h(
    "div",
    {class: "state failure", role: "alert"},
    h("p", {}, error.message ?? String(error)),
    again && h("button", {type: "button", onclick: again}, "Try again"),
  );

// Announces a change to screen readers.
export function announce(text) {
  document.getElementById("announce").textContent = text;
}
