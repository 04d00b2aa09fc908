// SPDX-License-Identifier: Apache-2.0
//
// The frame around the views: navigation, sign-in, colour scheme, and whether the server answers.
//
// A view is a function show(main, rest, signal): `rest` is what follows its name in the address, and `signal` is
// aborted when another view is shown. A view that can follow a change of `rest` itself returns a function for it.

import {get, hasCredentials, onReachable, setCredentials} from "./api.js";
import {announce, h, replace} from "./dom.js";
import {showEnsemble} from "./ensemble.js";
import {on, poll, restart, watch} from "./live.js";
import {showMetrics} from "./metrics.js";
import {showRecipes} from "./recipes.js";
import {showSessions} from "./sessions.js";
import {showTree} from "./tree.js";
import {pathToHash} from "./paths.js";

const views = {
  ensemble: {title: "Ensemble", show: showEnsemble},
  metrics: {title: "Metrics", show: showMetrics},
  tree: {title: "Tree", show: showTree},
  sessions: {title: "Sessions", show: showSessions},
  recipes: {title: "Locks and queues", show: showRecipes},
};
const main = document.getElementById("main");
let current = null; // {name, controller, follow}

// ---- navigation ----------------------------------------------------------------------------------

function route() {
  const hash = location.hash.replace(/^#\/?/, "");
  const slash = hash.indexOf("/");
  const name = slash < 0 ? hash : hash.slice(0, slash);
  const rest = slash < 0 ? "" : hash.slice(slash);
  if (!views[name]) {
    location.replace("#/ensemble");
    return;
  }
  if (current?.name === name && current.follow) {
    current.follow(rest);
    return;
  }
  current?.controller.abort();
  const controller = new AbortController();
  current = {name, controller, follow: null};
  document.title = `${views[name].title} · Drover`;
  for (const link of document.querySelectorAll("nav.views a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  watch([]);
  main.className = `view-${name}`;
  replace(main);
  main.scrollTop = 0;
  current.follow = views[name].show(main, rest, controller.signal) ?? null;
}

function reload() {
  const name = current?.name;
  current?.controller.abort();
  current = null;
  restart();
  if (name) route();
}

// ---- colour scheme -------------------------------------------------------------------------------

// auto follows the system. The button cycles through the three schemes.
const themes = {auto: "◐", dark: "☾", light: "☀"};
function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = themes[theme];
  button.setAttribute("aria-label", `Colours: ${theme}`);
  button.title = `Colours: ${theme}`;
}
function nextTheme() {
  const names = Object.keys(themes);
  const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
  try {
    localStorage.setItem("theme", next);
  } catch {
    /* A browser that keeps nothing forgets it with the page. */
  }
  showTheme(next);
  announce(`Colours: ${next}`);
}
function storedTheme() {
  try {
    const stored = localStorage.getItem("theme");
    return themes[stored] ? stored : "auto";
  } catch {
    return "auto";
  }
}

// ---- dialogs -------------------------------------------------------------------------------------

function dialog(title, ...content) {
  const box = h("dialog", {"aria-label": title, onclose: () => box.remove()}, h("h2", {}, title), content);
  document.body.append(box);
  box.showModal();
  return box;
}

function askForPath() {
  if (document.querySelector("dialog[open]")) return;
  const input = h("input", {
    name: "path",
    placeholder: "/config/app",
    "aria-label": "Path",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    value: "/",
  });
  const box = dialog(
    "Go to a path",
    h(
      "form",
      {
        method: "dialog",
        onsubmit: () => {
          const path = `/${input.value.trim()}`.replace(/\/+/g, "/").replace(/(.)\/$/, "$1");
          location.hash = pathToHash("tree", path);
        },
      },
      input,
      h(
        "div",
        {class: "buttons"},
        h("button", {class: "primary"}, "Go"),
        h("button", {type: "button", onclick: () => box.close()}, "Cancel"),
      ),
    ),
  );
  input.focus();
  input.setSelectionRange(1, 1);
}

function askForAccount() {
  const user = h("input", {name: "user", autocomplete: "off", spellcheck: "false", autocapitalize: "off"});
  const password = h("input", {name: "password", type: "password", autocomplete: "off"});
  const scheme = h(
    "select",
    {name: "scheme"},
    h("option", {value: "digest"}, "digest (addauth)"),
    h("option", {value: "sasl"}, "SASL (a user of the server's JAAS file)"),
  );
  const note = h("p", {class: "bad", role: "alert"});
  const leave = () => {
    setCredentials("digest", null);
    box.close();
    signedIn();
  };
  const box = dialog(
    "Sign in",
    h(
      "p",
      {class: "hint"},
      "ACLs decide what you may read and change. The page keeps your password in memory until it is " +
        "closed, and sends it only to this server.",
    ),
    h(
      "form",
      {
        method: "dialog",
        onsubmit: (event) => {
          try {
            if (user.value) setCredentials(scheme.value, `${user.value}:${password.value}`);
          } catch (error) {
            event.preventDefault(); // the dialog stays open
            note.textContent = error.message;
            return;
          }
          signedIn();
        },
      },
      h("label", {}, "User", user),
      h("label", {}, "Password", password),
      h("label", {}, "Kind", scheme),
      note,
      h(
        "div",
        {class: "buttons"},
        h("button", {class: "primary"}, "Sign in"),
        hasCredentials() && h("button", {type: "button", onclick: leave}, "Sign out"),
        h("button", {type: "button", onclick: () => box.close()}, "Cancel"),
      ),
    ),
  );
  user.focus();
}

async function signedIn() {
  await showAccount();
  reload();
}

async function showAccount() {
  const button = document.getElementById("account");
  try {
    const who = await get("whoami");
    const names = who.identities
      .filter((id) => id.scheme !== "ip")
      .map((id) => id.id.split(":")[0] || id.scheme);
    button.textContent = names.length ? names.join(", ") : "anonymous";
    button.classList.toggle("known", names.length > 0);
  } catch (error) {
    if (error.status !== 401) return;
    setCredentials("digest", null);
    button.textContent = "anonymous";
    banner(`${error.message} The page continues as anonymous.`, 6000);
  }
}

function help() {
  const rows = [
    ["1 – 5", "the views"],
    ["/", "go to a path"],
    ["↑ ↓", "move in the tree"],
    ["→ ←", "open, close a node"],
    ["Home End", "first, last node"],
    ["Enter", "show a node"],
    ["t", "dark or light"],
    ["?", "this list"],
  ];
  const box = dialog(
    "Keys",
    h(
      "dl",
      {class: "keys"},
      rows.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]),
    ),
    h("div", {class: "buttons"}, h("button", {class: "primary", onclick: () => box.close()}, "Close")),
  );
}

// ---- the server ----------------------------------------------------------------------------------

let bannerTimer = 0;
function banner(text, ms) {
  const box = document.getElementById("banner");
  clearTimeout(bannerTimer);
  box.hidden = !text;
  box.textContent = text ?? "";
  if (ms) bannerTimer = setTimeout(() => banner(null), ms);
}

onReachable((now) => {
  document.body.classList.toggle("away", !now);
  if (now) {
    banner("The server is back.", 3000);
    reload();
  } else {
    banner("This server does not answer. The page shows old data and keeps trying.");
  }
});

let lastRole = "";
async function showHere() {
  const {server} = await get("ensemble");
  const role = server.id === null ? "standalone" : `server ${server.id} · ${server.mode}`;
  replace(document.getElementById("here"), h("i", {class: `dot ${server.mode}`}), role);
  if (lastRole && lastRole !== role) announce(role);
  lastRole = role;
}

// ---- keys ----------------------------------------------------------------------------------------

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  const order = Object.keys(views);
  if (event.key === "/") {
    event.preventDefault();
    askForPath();
  } else if (event.key === "?") {
    help();
  } else if (event.key === "t") {
    nextTheme();
  } else if (event.key >= "1" && event.key <= String(order.length)) {
    location.hash = `#/${order[Number(event.key) - 1]}`;
  }
}

showTheme(storedTheme());
document.getElementById("theme").addEventListener("click", nextTheme);
document.getElementById("jump").addEventListener("click", askForPath);
document.getElementById("account").addEventListener("click", askForAccount);
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", route);
on("role", () => showHere().catch(() => {}));
poll(2000, new AbortController().signal, showHere);
showAccount();
route();
