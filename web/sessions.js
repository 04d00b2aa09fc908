// SPDX-License-Identifier: Apache-2.0
//
// The list of sessions with their connections, and the ephemeral nodes and watches of one session.

import {get} from "./api.js";
import {empty, failure, h, loading, replace} from "./dom.js";
import {ago, count, duration, plural, short} from "./format.js";
import {poll} from "./live.js";
import {pathToHash} from "./paths.js";

const kPage = 100;

export function showSessions(main, rest, signal) {
  const list = h("div", {class: "scroll"}, loading("the sessions"));
  const detail = h("section", {class: "detail", "aria-label": "Session"});
  const pages = h("div", {class: "buttons"});
  const hint = h("p", {class: "hint"});
  replace(
    main,
    h("div", {class: "head"}, h("h1", {}, "Sessions"), hint),
    h(
      "div",
      {class: "split wide"},
      h("section", {class: "left", "aria-label": "Sessions"}, list, pages),
      detail,
    ),
  );
  let after = null;
  let selected = rest.slice(1);
  let shown = "";

  const look = async () => {
    try {
      const answer = await get("sessions", {after, limit: kPage}, signal);
      hint.textContent = `${plural(answer.total, "session")} in the ensemble, ${count(answer.here)} connected here.`;
      const key = JSON.stringify([answer, selected]);
      if (key === shown) return;
      shown = key;
      replace(
        list,
        answer.sessions.length
          ? tableOf(answer, selected)
          : empty("There are no sessions. Clients appear here when they connect."),
      );
      replace(
        pages,
        after !== null &&
          h("button", {type: "button", onclick: () => ((after = null), look())}, "First page"),
        answer.more &&
          h(
            "button",
            {type: "button", onclick: () => ((after = answer.sessions.at(-1).id), look())},
            "Next page",
          ),
      );
    } catch (error) {
      if (error.name !== "AbortError" && !shown) replace(list, failure(error, look));
    }
  };
  const lookAtOne = async () => {
    const id = selected;
    if (!id) return void replace(detail, empty("Choose a session to see its ephemeral nodes and watches."));
    try {
      const one = await get("session", {id}, signal);
      if (id === selected) replace(detail, detailOf(one));
    } catch (error) {
      if (error.name !== "AbortError" && id === selected)
        replace(detail, error.status === 404 ? empty("This session has ended.") : failure(error, lookAtOne));
    }
  };
  poll(2000, signal, async () => {
    await look();
    await lookAtOne();
  });
  return (next) => {
    selected = next.slice(1);
    look();
    lookAtOne();
  };
}

// A server knows only the connections of its own clients.
const addressOf = (session) => session.connection?.remote ?? "not connected here";

function tableOf({sessions, now}, selected) {
  const head = ["Session", "Client", "Timeout", "Ephemeral", "Watches", "Requests", "Last heard"];
  return h(
    "table",
    {class: "grid"},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map((name, i) => h("th", {scope: "col", class: i > 1 ? "number" : ""}, name)),
      ),
    ),
    h(
      "tbody",
      {},
      sessions.map((s) =>
        h(
          "tr",
          {class: s.id === selected ? "chosen" : ""},
          h(
            "th",
            {scope: "row", class: "mono"},
            h("a", {href: `#/sessions/${s.id}`, "aria-current": s.id === selected ? "true" : null}, s.id),
            s.local && h("span", {class: "tag"}, "local"),
          ),
          h("td", {class: s.connection ? "mono" : "dim"}, addressOf(s)),
          h("td", {class: "number"}, duration(s.timeout_ms)),
          h("td", {class: "number"}, count(s.ephemerals)),
          h("td", {class: "number"}, s.connection ? count(s.watches) : "–"),
          h("td", {class: "number"}, s.connection ? short(s.connection.received) : "–"),
          h("td", {class: "number"}, s.connection ? ago(s.connection.last_reply, now) : "–"),
        ),
      ),
    ),
  );
}

function detailOf(s) {
  const c = s.connection;
  const paths = (items, total, none, truncated) =>
    items.length
      ? [
          h(
            "ul",
            {class: "paths"},
            items.map((item) =>
              h(
                "li",
                {},
                h("a", {class: "mono", href: pathToHash("tree", item.path)}, item.path),
                item.kinds &&
                  h(
                    "span",
                    {class: "kinds"},
                    item.kinds.map((kind) => h("span", {class: "tag"}, kind)),
                  ),
              ),
            ),
          ),
          total > items.length &&
            h("p", {class: "hint"}, `and ${count(total - items.length)} more; some may be hidden by ACLs`),
        ]
      : h(
          "p",
          {class: "hint"},
          !total
            ? none
            : truncated
              ? `${count(total)}; ACLs hide those that were read.`
              : `${count(total)}, hidden by ACLs.`,
        );
  return [
    h("h2", {class: "mono"}, s.id),
    h(
      "dl",
      {class: "facts"},
      [
        ["Client", c ? c.remote : addressOf(s)],
        ["Timeout", duration(s.timeout_ms)],
        c && ["Connected", ago(c.opened, s.now)],
        c && ["Packets", `${count(c.received)} in, ${count(c.sent)} out`],
        c && ["Waiting", count(c.outstanding)],
        c && ["Latency", `${c.latency_ms.min} / ${short(c.latency_ms.avg)} / ${c.latency_ms.max} ms`],
      ]
        .filter(Boolean)
        .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
    h("h3", {}, "Ephemeral nodes", h("span", {class: "tag"}, count(s.ephemerals_total))),
    paths(s.ephemerals, s.ephemerals_total, "It owns no ephemeral nodes.", s.ephemerals_truncated),
    h("h3", {}, "Watches", c && h("span", {class: "tag"}, count(s.watches_total))),
    c
      ? paths(s.watches, s.watches_total, "It has no watches.")
      : h("p", {class: "hint"}, "Only the server that the client is connected to knows them."),
  ];
}
