// SPDX-License-Identifier: Apache-2.0
//
// Shows locks, elections, queues and other recipes: who holds them and who waits.

import {get} from "./api.js";
import {empty, failure, h, loading, replace} from "./dom.js";
import {count, duration} from "./format.js";
import {poll} from "./live.js";
import {hashToPath, pathToHash} from "./paths.js";

// The name of each kind, and what its holders and waiters are called.
const kinds = {
  lock: {name: "Lock", holds: "holds it", waits: "waiting", free: "Not held."},
  election: {name: "Election", holds: "leads", waits: "candidates", free: "There is no leader."},
  rwlock: {name: "Read/write lock", holds: "inside", waits: "waiting", free: "Not held."},
  semaphore: {name: "Semaphore", holds: "has a lease", waits: "waiting", free: "No lease is held."},
  queue: {
    name: "Queue",
    holds: "being worked on",
    waits: "items, next first",
    free: "No item is in progress.",
  },
  barrier: {name: "Double barrier", holds: "inside", waits: "arrived", free: "No party has entered."},
  membership: {name: "Members", holds: "here", waits: "", free: "No members."},
};

export function showRecipes(main, rest, signal) {
  const body = h("div", {class: "recipes"}, loading("locks and queues"));
  const input = h("input", {
    "aria-label": "Look below this path",
    spellcheck: "false",
    autocapitalize: "off",
    value: hashToPath(rest),
  });
  const hint = h("p", {class: "hint"});
  replace(
    main,
    h(
      "div",
      {class: "head"},
      h("h1", {}, "Locks and queues"),
      h(
        "form",
        {
          class: "below",
          onsubmit: (event) => {
            event.preventDefault();
            location.hash = pathToHash(
              "recipes",
              `/${input.value.trim()}`.replace(/\/+/g, "/").replace(/(.)\/$/, "$1"),
            );
          },
        },
        h("label", {}, "below", input),
      ),
      hint,
    ),
    body,
  );
  let path = hashToPath(rest);
  let shown = "";

  const look = async () => {
    const asked = path;
    try {
      const answer = await get("recipes", {path: asked}, signal);
      if (asked !== path) return;
      hint.textContent = answer.truncated ? "There are more. Enter a longer path." : "";
      const key = JSON.stringify({...answer, now: Math.floor(answer.now / 1000)});
      if (key === shown) return;
      shown = key;
      replace(
        body,
        answer.recipes.length
          ? answer.recipes.map((recipe) => cardOf(recipe, answer.now))
          : empty(
              "No lock, election, queue, semaphore, barrier or group was found. ",
              "They are recognised by the node names of Curator, kazoo and drover, ",
              "and appear here as soon as they exist.",
            ),
      );
    } catch (error) {
      if (error.name !== "AbortError") {
        shown = "";
        replace(
          body,
          error.code === "NoNode"
            ? empty("There is no such node.")
            : error.code === "NoAuth"
              ? empty("The ACL does not let you read this node.")
              : failure(error, look),
        );
      }
    }
  };
  poll(2000, signal, look);
  return (next) => {
    path = hashToPath(next);
    input.value = path;
    look();
  };
}

function cardOf(recipe, now) {
  const kind = kinds[recipe.kind];
  const slots = recipe.kind === "semaphore" && recipe.capacity ? ` of ${count(recipe.capacity)}` : "";
  return h(
    "article",
    {class: `recipe ${recipe.kind}`},
    h(
      "header",
      {},
      h("span", {class: "kind"}, kind.name),
      h("a", {class: "mono", href: pathToHash("tree", recipe.path)}, recipe.path),
      recipe.layout && h("span", {class: "tag"}, recipe.layout),
    ),
    h(
      "div",
      {class: "flow"},
      recipe.kind === "queue" && !recipe.holders.length
        ? null
        : h(
            "div",
            {class: "inside"},
            h(
              "h3",
              {},
              kind.holds,
              recipe.holders.length > 1 || slots ? ` · ${count(recipe.holders_total)}${slots}` : "",
            ),
            recipe.holders.length
              ? h(
                  "ol",
                  {},
                  recipe.holders.map((who) => entryOf(who, now)),
                )
              : h("p", {class: "hint"}, kind.free),
            recipe.holders_total > recipe.holders.length &&
              h("p", {class: "hint"}, `and ${count(recipe.holders_total - recipe.holders.length)} more`),
          ),
      recipe.waiting_total > 0 &&
        h(
          "div",
          {class: "line"},
          h("h3", {}, `${kind.waits} · ${count(recipe.waiting_total)}`),
          h(
            "ol",
            {},
            recipe.waiting.map((who, i) => entryOf(who, now, i + 1)),
          ),
          recipe.waiting_total > recipe.waiting.length &&
            h(
              "p",
              {class: "hint"},
              `first ${count(recipe.waiting.length)} of ${count(recipe.waiting_total)}, `,
              `${count(recipe.waiting_total - recipe.waiting.length)} behind them`,
            ),
        ),
      recipe.waiting_total === 0 &&
        recipe.kind !== "membership" &&
        recipe.kind !== "queue" &&
        h("p", {class: "hint none"}, recipe.kind === "barrier" ? "" : "No waiters."),
      recipe.waiting_total === 0 && recipe.kind === "queue" && h("p", {class: "hint none"}, "It is empty."),
    ),
  );
}

function entryOf(who, now, place) {
  const title = who.data || who.name;
  return h(
    "li",
    {class: who.mode ?? "", title: who.path},
    place && h("span", {class: "place"}, count(place)),
    h(
      "div",
      {},
      h("b", {}, who.mode && h("span", {class: "tag"}, who.mode), title),
      h(
        "small",
        {},
        who.since ? `since ${duration(Math.max(1000, now - who.since))}` : "",
        who.remote ? ` · ${who.remote}` : who.session && who.alive ? " · at another server" : "",
        who.session && [" · ", h("a", {class: "mono", href: `#/sessions/${who.session}`}, who.session)],
      ),
    ),
  );
}
