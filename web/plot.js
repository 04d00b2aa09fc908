// SPDX-License-Identifier: Apache-2.0
//
// One plot of one or a few lines over time, drawn in SVG.

import {h, replace, svg} from "./dom.js";
import {clock, short} from "./format.js";

const kHeight = 132;
const kLeft = 44;
const kBottom = 18;
const kTop = 8;

// The next round number: 1, 2, 5, 10, 20, …
function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value - 1e-9);
}

export class Plot {
  constructor({title, unit, series}, onPoint) {
    this.unit = unit;
    this.series = series;
    this.onPoint = onPoint;
    this.legend = h("div", {class: "legend"});
    this.canvas = h("div", {class: "canvas"});
    this.element = h(
      "figure",
      {class: "plot"},
      h("figcaption", {}, h("b", {}, title), h("span", {}, unit && ` ${unit}`), this.legend),
      this.canvas,
    );
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => onPoint(null));
  }

  draw(samples, from, to) {
    this.from = from;
    this.to = to;
    this.shown = samples.filter((s) => s.t >= from);
    this.width = Math.max(200, this.canvas.clientWidth || 320);
    const top = ceiling(Math.max(0, ...this.shown.flatMap((s) => this.series.map(([key]) => s[key] ?? 0))));
    const x = (this.x = (t) => kLeft + ((t - from) / (to - from)) * (this.width - kLeft - 6));
    const y = (this.y = (v) => kTop + (1 - v / top) * (kHeight - kTop - kBottom));
    this.cursor = svg("g", {class: "cursor"});
    const latest = this.series.map(([key, name]) => `${name} ${short(this.shown.at(-1)?.[key])}`).join(", ");
    replace(
      this.canvas,
      svg(
        "svg",
        {
          width: this.width,
          height: kHeight,
          viewBox: `0 0 ${this.width} ${kHeight}`,
          role: "img",
          "aria-label": `now: ${latest} ${this.unit}`,
        },
        [0, 0.5, 1].map((part) => [
          svg("line", {class: "rule", x1: kLeft, x2: this.width - 6, y1: y(part * top), y2: y(part * top)}),
          svg(
            "text",
            {class: "tick", x: kLeft - 6, y: y(part * top) + 3.5, "text-anchor": "end"},
            short(part * top),
          ),
        ]),
        [0, 0.5, 1].map((part) =>
          svg(
            "text",
            {
              class: "tick",
              x: x(from + part * (to - from)),
              y: kHeight - 4,
              "text-anchor": ["start", "middle", "end"][part * 2],
            },
            clock(from + part * (to - from)).slice(0, 5),
          ),
        ),
        this.series.map(([key], i) => this.line(key, i, x, y)),
        this.cursor,
      ),
    );
    this.point(null);
  }

  // A gap in the samples is a gap in the line.
  line(key, index, x, y) {
    let d = "";
    let before = null;
    for (const s of this.shown) {
      const value = s[key];
      if (value === null || value === undefined) {
        before = null;
        continue;
      }
      d += `${before !== null && s.t - before < 15000 ? "L" : "M"}${x(s.t).toFixed(1)} ${y(value).toFixed(1)}`;
      before = s.t;
    }
    const points = this.shown.length < 3;
    return [
      svg("path", {class: `line s${index}`, d}),
      points &&
        this.shown.map(
          (s) =>
            s[key] !== null &&
            svg("circle", {class: `mark s${index}`, cx: x(s.t), cy: y(s[key] ?? 0), r: 2.5}),
        ),
    ];
  }

  hover(event) {
    if (!this.shown?.length) return;
    const left = this.canvas.getBoundingClientRect().left;
    const t = this.from + ((event.clientX - left - kLeft) / (this.width - kLeft - 6)) * (this.to - this.from);
    this.onPoint(t);
  }

  // Shows the values at a time, or the latest ones.
  point(t) {
    if (!this.shown) return;
    const nearest =
      t === null
        ? this.shown.at(-1)
        : this.shown.reduce(
            (best, s) => (Math.abs(s.t - t) < Math.abs(best.t - t) ? s : best),
            this.shown[0],
          );
    replace(
      this.legend,
      t !== null && nearest ? h("time", {}, clock(nearest.t)) : null,
      this.series.map(([key, name], i) =>
        h(
          "span",
          {class: `key s${i}`},
          h("i", {}),
          this.series.length > 1 ? `${name} ` : "",
          h("b", {}, short(nearest?.[key])),
        ),
      ),
    );
    if (!this.cursor) return;
    replace(
      this.cursor,
      t !== null &&
        nearest && [
          svg("line", {x1: this.x(nearest.t), x2: this.x(nearest.t), y1: kTop, y2: kHeight - kBottom}),
          this.series.map(
            ([key], i) =>
              nearest[key] !== null &&
              svg("circle", {
                class: `mark s${i}`,
                cx: this.x(nearest.t),
                cy: this.y(nearest[key] ?? 0),
                r: 3,
              }),
          ),
        ],
    );
  }
}
