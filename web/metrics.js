// SPDX-License-Identifier: Apache-2.0
//
// The last hour of this server as small plots with one time axis: a crosshair on one is a crosshair on all.

import {get} from "./api.js";
import {empty, failure, h, loading, replace} from "./dom.js";
import {poll} from "./live.js";
import {Plot} from "./plot.js";

// Columns of /api/metrics, by plot.
const plots = [
  {
    title: "Requests",
    unit: "/s",
    series: [
      ["reads", "reads"],
      ["writes", "writes"],
    ],
  },
  {
    title: "Read latency",
    unit: "ms",
    series: [
      ["read_p50", "p50"],
      ["read_p99", "p99"],
      ["read_p999", "p99.9"],
    ],
  },
  {
    title: "Write latency",
    unit: "ms",
    series: [
      ["write_p50", "p50"],
      ["write_p99", "p99"],
      ["write_p999", "p99.9"],
    ],
  },
  {title: "Outstanding requests", unit: "", series: [["outstanding", "outstanding"]]},
  {
    title: "Clients",
    unit: "",
    series: [
      ["sessions", "sessions"],
      ["connections", "connections"],
    ],
  },
  {title: "Watches", unit: "", series: [["watches", "watches"]]},
  {
    title: "Disk sync",
    unit: "ms",
    series: [
      ["fsync_avg", "mean"],
      ["flush_p99", "p99 with queue"],
    ],
  },
  {title: "Snapshots", unit: "ms", series: [["snapshot_ms", "last took"]]},
  {
    title: "Nodes",
    unit: "",
    series: [
      ["nodes", "nodes"],
      ["ephemerals", "ephemeral"],
    ],
  },
];
const spans = [
  [5, "5 min"],
  [15, "15 min"],
  [60, "1 hour"],
];

export function showMetrics(main, _rest, signal) {
  let chosen = null; // minutes; none: as much as there is
  const samples = []; // oldest first, as objects by column
  const body = h("div", {class: "plots"}, loading("the last hour"));
  const buttons = spans.map(([value, name]) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": "false",
        onclick: () => {
          chosen = value;
          draw();
        },
      },
      name,
    ),
  );
  replace(
    main,
    h(
      "div",
      {class: "head"},
      h("h1", {}, "Metrics"),
      h("p", {class: "hint"}, "This server, one sample every five seconds."),
      h("div", {class: "segments", role: "group", "aria-label": "Time shown"}, buttons),
    ),
    body,
  );

  let drawn = null;
  const draw = () => {
    if (!samples.length)
      return void replace(body, empty("The first sample is taken five seconds after the start."));
    if (!drawn) {
      drawn = plots.map((plot) => new Plot(plot, (t) => drawn.forEach((other) => other.point(t))));
      replace(
        body,
        drawn.map((plot) => plot.element),
      );
    }
    const end = samples.at(-1).t;
    const there = (end - samples[0].t) / 60000;
    const minutes = chosen ?? (spans.find(([value]) => value >= there) ?? spans.at(-1))[0];
    spans.forEach(([value], i) => buttons[i].setAttribute("aria-pressed", String(value === minutes)));
    for (const plot of drawn) plot.draw(samples, end - minutes * 60000, end);
  };
  const look = async () => {
    try {
      const answer = await get("metrics", {since: samples.at(-1)?.t}, signal);
      for (const row of answer.samples)
        samples.push(Object.fromEntries(answer.columns.map((column, i) => [column, row[i]])));
      while (samples.length > 720) samples.shift();
      draw();
    } catch (error) {
      if (error.name !== "AbortError" && !drawn) replace(body, failure(error, look));
    }
  };
  const resized = new ResizeObserver(draw);
  resized.observe(main);
  signal.addEventListener("abort", () => resized.disconnect());
  poll(5000, signal, look);
}
