// SPDX-License-Identifier: Apache-2.0
//
// A drawing of the servers: who leads, who follows, how far behind, and which links are up.

import {get} from "./api.js";
import {announce, failure, h, loading, replace, svg} from "./dom.js";
import {count, duration, modeName, plural, short} from "./format.js";
import {on, poll} from "./live.js";

const kCard = {width: 216, height: 104};

export function showEnsemble(main, _rest, signal) {
  const picture = h("div", {class: "picture"});
  const summary = h("div", {class: "summary"});
  const table = h("div", {class: "scroll"});
  replace(main, h("h1", {}, "Ensemble"), summary, picture, table);
  replace(picture, loading("the servers"));
  let last = null;

  const draw = () => {
    if (!last) return;
    replace(summary, summaryOf(last));
    replace(picture, last.members.length > 1 ? pictureOf(last, picture.clientWidth) : aloneCard(last));
    replace(table, tableOf(last));
  };
  const look = async () => {
    try {
      const next = await get("ensemble", {}, signal);
      tellChanges(last, next);
      last = next;
      draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!last) replace(picture, failure(error, look));
    }
  };
  const off = on("role", look);
  const resized = new ResizeObserver(draw);
  resized.observe(main);
  signal.addEventListener("abort", () => {
    off();
    resized.disconnect();
  });
  poll(1000, signal, look);
}

function tellChanges(before, now) {
  if (before && before.leader !== now.leader)
    announce(now.leader === null ? "There is no leader." : `Server ${now.leader} leads.`);
}

// ---- text ----------------------------------------------------------------------------------------

// Labels of servers that are not plain members.
const memberships = {joining: "joining", leaving: "leaving", guest: "not a member"};

function summaryOf({server, quorum, leader, members, config}) {
  const facts = [];
  const fact = (name, value, kind) =>
    facts.push(h("div", {class: `fact ${kind ?? ""}`}, h("b", {}, value), h("span", {}, name)));
  if (members.length > 1) {
    const fine = quorum.up >= quorum.needed;
    fact(
      leader === null ? "no leader: election in progress" : "leads",
      leader === null ? "–" : `Server ${leader}`,
      leader === null ? "bad" : "",
    );
    fact(
      `of ${quorum.voters} voters up, ${quorum.needed} needed`,
      count(quorum.up),
      fine ? (quorum.up < quorum.voters ? "warn" : "") : "bad",
    );
    fact("epoch", count(server.epoch));
    fact(config.proposed ? `members; ${config.proposed} is proposed` : "members", config.version, config.proposed ? "warn" : "");
  } else {
    fact("of one", modeName(server.mode));
  }
  fact("last zxid here", server.zxid);
  fact("nodes", short(server.nodes));
  fact("sessions", short(server.sessions));
  fact("up", duration(server.uptime_ms));
  return facts;
}

function tableOf({members}) {
  const head = [
    "Server",
    "Role",
    "Clients",
    "Epoch",
    "Zxid",
    "Lag",
    "Connections",
    "Outstanding",
    "Latency ms",
    "Version",
  ];
  return h(
    "table",
    {class: "grid"},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map((name, i) => h("th", {scope: "col", class: i > 2 && i < 9 ? "number" : ""}, name)),
      ),
    ),
    h(
      "tbody",
      {},
      members.map((m) =>
        h(
          "tr",
          {class: m.self ? "self" : ""},
          h(
            "th",
            {scope: "row"},
            m.id === null ? "this" : m.id,
            m.self && members.length > 1 ? h("span", {class: "tag"}, "this page") : null,
            memberships[m.membership] ? h("span", {class: `tag ${m.membership}`}, memberships[m.membership]) : null,
          ),
          h(
            "td",
            {},
            h("i", {class: `dot ${m.mode}`}),
            modeName(m.mode),
            m.error ? h("small", {}, ` ${m.error}`) : null,
          ),
          h("td", {class: "mono"}, m.address ?? "unknown"),
          h("td", {class: "number"}, count(m.epoch)),
          h("td", {class: "number mono"}, m.zxid ?? "–"),
          h("td", {class: "number"}, count(m.lag)),
          h("td", {class: "number"}, count(m.connections)),
          h("td", {class: "number"}, count(m.outstanding)),
          h(
            "td",
            {class: "number"},
            m.latency_ms ? `${m.latency_ms.min} / ${short(m.latency_ms.avg)} / ${m.latency_ms.max}` : "–",
          ),
          h(
            "td",
            {title: m.version},
            h("small", {}, (m.version ?? "–").replace(/^(\d+\.\d+\.\d+-[0-9a-f]{7})[0-9a-f]+$/, "$1")),
          ),
        ),
      ),
    ),
  );
}

function aloneCard({members: [server]}) {
  return h(
    "div",
    {class: "alone"},
    h("i", {class: "dot standalone"}),
    h(
      "div",
      {},
      h("b", {}, "Standalone server"),
      h(
        "p",
        {},
        `It serves clients on ${server.address ?? "no plain port"} and has no replicas. `,
        "The servers of an ensemble would be shown here.",
      ),
    ),
  );
}

// ---- drawing ------------------------------------------------------------------------------------

// The leader is in the middle of a circle of learners or, on a narrow page, above a column of them.
function pictureOf(state, width) {
  const learners = state.members.length - (state.leader === null ? 0 : 1);
  const needed = learners <= 4 ? learners * (kCard.width + 12) : learners <= 8 ? 900 : Infinity;
  const narrow = width < Math.max(640, needed);
  const places = narrow ? column(state, width) : circle(state, width);
  const links = [];
  const leader = places.find((place) => place.member.id === state.leader);
  for (const place of places) {
    if (leader && place !== leader) links.push(linkOf(leader, place, narrow));
  }
  if (leader && narrow) links.unshift(trunkOf(leader, places));
  const height = Math.max(...places.map((place) => place.y)) + kCard.height / 2 + 8;
  const describe = state.members.map((m) => `server ${m.id}: ${modeOf(m)}`).join(", ");
  return svg(
    "svg",
    {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Ensemble: ${describe}`},
    svg("g", {class: "links"}, links),
    svg("g", {class: "servers"}, places.map(cardOf)),
  );
}

function inOrder(state) {
  const rest = state.members.filter((m) => m.id !== state.leader);
  const leader = state.members.find((m) => m.id === state.leader);
  return {leader, rest};
}

function column(state, width) {
  const {leader, rest} = inOrder(state);
  const all = leader ? [leader, ...rest] : rest;
  return all.map((member, i) => ({
    member,
    x: (leader && i > 0 ? 22 : 0) + width / 2 - 6,
    y: 8 + kCard.height / 2 + i * (kCard.height + 22),
    narrow: true,
  }));
}

function circle(state, width) {
  const {leader, rest} = inOrder(state);
  const rows = rest.length > 4 ? 2 : 1;
  const rx = Math.min(width / 2 - kCard.width / 2 - 12, 400);
  if (rows === 1 && rest.length <= 4) {
    // Few servers: the leader above, the others in a row below it.
    const gap = Math.min((width - 24) / Math.max(1, rest.length), kCard.width + 90);
    const start = width / 2 - (gap * (rest.length - 1)) / 2;
    const below = leader ? 250 : 90;
    const places = rest.map((member, i) => ({member, x: start + gap * i, y: below}));
    if (leader) places.unshift({member: leader, x: width / 2, y: 66});
    return places;
  }
  const ry = 190;
  const centre = {x: width / 2, y: ry + kCard.height / 2 + 10};
  const places = rest.map((member, i) => {
    const angle = (2 * Math.PI * i) / rest.length - Math.PI / 2 + Math.PI / rest.length;
    return {member, x: centre.x + rx * Math.cos(angle), y: centre.y + ry * Math.sin(angle)};
  });
  if (leader) places.unshift({member: leader, ...centre});
  return places;
}

function linkOf(leader, place, narrow) {
  const {member} = place;
  const state =
    member.mode === "unreachable" ? "gone" : (member.link ?? (member.mode === "looking" ? "gone" : "synced"));
  const label =
    state === "gone" ? "" : member.lag ? `${short(member.lag)} behind` : state === "synced" ? "" : state;
  if (narrow) {
    const x = trunkX(leader);
    return [
      svg("path", {class: `link ${state}`, d: `M ${x} ${place.y} H ${place.x - kCard.width / 2}`}),
      label && svg("text", {class: "lag", x: x + 28, y: place.y - kCard.height / 2 - 6}, label),
    ];
  }
  const middle = {x: (leader.x + place.x) / 2, y: (leader.y + place.y) / 2};
  return [
    svg("line", {class: `link ${state}`, x1: leader.x, y1: leader.y, x2: place.x, y2: place.y}),
    label && svg("text", {class: "lag", x: middle.x, y: middle.y - 4, "text-anchor": "middle"}, label),
  ];
}

// In a column: one line down from the leader, with a branch to each learner.
const trunkX = (leader) => leader.x - kCard.width / 2 + 4;
function trunkOf(leader, places) {
  return svg("path", {
    class: "link synced",
    d: `M ${trunkX(leader)} ${leader.y + kCard.height / 2} V ${places.at(-1).y}`,
  });
}

function modeOf(member) {
  if (memberships[member.membership]) return memberships[member.membership];
  return member.role === "observer" && member.mode !== "observer"
    ? `${modeName(member.mode)} (observer)`
    : modeName(member.mode);
}

function silenceOf(member) {
  if (member.mode !== "looking") return "does not answer";
  return member.membership === "guest" ? "has no vote, serves no clients" : "looks for a leader";
}

function cardOf({member, x, y}) {
  const left = x - kCard.width / 2;
  const top = y - kCard.height / 2;
  const row = (i) => top + 52 + i * 18;
  const line = (i, name, value) => [
    svg("text", {class: "name", x: left + 14, y: row(i)}, name),
    svg("text", {class: "value", x: left + kCard.width - 14, y: row(i), "text-anchor": "end"}, value),
  ];
  return svg(
    "g",
    {class: `server ${member.mode} ${member.membership ?? ""} ${member.self ? "self" : ""}`},
    svg("rect", {class: "card", x: left, y: top, width: kCard.width, height: kCard.height, rx: 10}),
    svg("rect", {class: "edge", x: left, y: top + 12, width: 4, height: 22, rx: 2}),
    svg("text", {class: "title", x: left + 14, y: top + 28}, `Server ${member.id}`),
    svg(
      "text",
      {class: "mode", x: left + kCard.width - 14, y: top + 28, "text-anchor": "end"},
      modeOf(member),
    ),
    member.mode === "unreachable" || member.mode === "looking"
      ? [
          svg(
            "text",
            {class: "name", x: left + 14, y: row(0)},
            member.error ?? silenceOf(member),
          ),
          member.address && svg("text", {class: "name", x: left + 14, y: row(1)}, member.address),
        ]
      : [
          line(0, "zxid", member.zxid ?? "–"),
          line(
            1,
            "lag",
            member.lag === null ? "–" : member.lag === 0 ? "none" : plural(member.lag, "change"),
          ),
          line(2, "connections", count(member.connections)),
        ],
    svg("title", {}, `Server ${member.id}, ${modeName(member.mode)}${member.self ? ", this page's" : ""}`),
  );
}
