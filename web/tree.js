// SPDX-License-Identifier: Apache-2.0
//
// The tree of znodes: branches open on demand, children are loaded in pages, and the page is updated live.
//
// A node may have a million children, so a branch never loads all of them: it shows one page, more on demand, and
// can start at a name.

import {get} from "./api.js";
import {announce, h, replace} from "./dom.js";
import {count} from "./format.js";
import {beginAt, on, watch} from "./live.js";
import {NodePanel} from "./node.js";
import {ancestors, childOf, hashToPath, nameOf, parentOf, pathToHash} from "./paths.js";

const kPage = 100;
const kPageMax = 1000; // of one answer

// One node in the list, and its children when it is open.
class Branch {
  constructor(view, path, facts, level) {
    Object.assign(this, {
      view,
      path,
      facts,
      level,
      open: false,
      children: [],
      after: null,
      more: false,
      total: facts.children,
      busy: false,
    });
    this.twist = h("span", {class: "twist", "aria-hidden": "true"});
    this.size = h("span", {class: "size"});
    this.row = h(
      "div",
      {
        class: "row",
        role: "treeitem",
        tabindex: "-1",
        "data-path": path,
        "aria-level": level + 1,
        onclick: (event) => this.onClick(event),
      },
      this.twist,
      h("span", {class: "name"}, nameOf(path)),
      facts.ephemeral && h("span", {class: "tag", title: "Deleted when its session ends"}, "ephemeral"),
      this.size,
    );
    this.row.style.setProperty("--level", level);
    this.group = h("div", {role: "group"});
    this.foot = h("div", {class: "foot"});
    this.foot.style.setProperty("--level", level + 1);
    this.element = h("div", {class: "branch"}, this.row, this.group, this.foot);
    this.show();
  }

  onClick(event) {
    const wasSelected = this.view.selected === this.path;
    if (event.target === this.twist || wasSelected) this.toggle();
    if (!wasSelected) this.view.go(this.path);
    this.view.focus(this);
  }

  show() {
    const openable = this.total > 0;
    this.twist.textContent = openable ? (this.open ? "▾" : "▸") : "";
    if (openable) this.row.setAttribute("aria-expanded", String(this.open));
    else this.row.removeAttribute("aria-expanded");
    this.size.textContent = this.total > 0 ? count(this.total) : "";
    this.group.hidden = this.foot.hidden = !this.open;
    if (!this.open) return;
    const left = this.total - this.children.length;
    replace(
      this.foot,
      this.begin &&
        h("button", {type: "button", class: "quiet", onclick: () => this.reload("")}, "From the beginning"),
      this.error && h("span", {class: "bad"}, this.error),
      this.more &&
        h(
          "button",
          {type: "button", class: "quiet", disabled: this.busy, onclick: () => this.load()},
          this.busy ? "Loading…" : `${count(Math.min(kPage, left))} more of ${count(this.total)}`,
        ),
      (this.more || this.begin) && this.total > kPage && this.jump(),
    );
  }

  // Many children: start at a name.
  jump() {
    const input = h("input", {
      placeholder: "begin at name…",
      "aria-label": `Begin at a name below ${this.path}`,
      spellcheck: "false",
      autocapitalize: "off",
      value: this.begin ?? "",
    });
    return h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          this.reload(input.value);
        },
      },
      input,
    );
  }

  async toggle(to = !this.open) {
    if (this.total === 0 && to) return;
    this.open = to;
    if (to && !this.children.length) await this.load();
    else this.show();
    this.view.watchShown();
  }

  async reload(from) {
    this.begin = from;
    this.children = [];
    this.after = null;
    replace(this.group);
    await this.load();
  }

  async load() {
    if (this.busy) return;
    this.busy = true;
    this.show();
    try {
      const page = await get(
        "children",
        {
          path: this.path,
          after: this.after,
          from: this.after === null ? this.begin || undefined : undefined,
          limit: kPage,
        },
        this.view.signal,
      );
      beginAt(page.zxid);
      this.total = page.total;
      this.more = page.more;
      this.error = null;
      if (page.children.length) this.after = page.children.at(-1).name;
      for (const child of page.children) this.add(child);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.error = error.code === "NoAuth" ? "You are not allowed to list its children." : error.message;
    } finally {
      this.busy = false;
      this.show();
    }
  }

  add(facts) {
    const branch = new Branch(this.view, childOf(this.path, facts.name), facts, this.level + 1);
    this.children.push(branch);
    this.view.branches.set(branch.path, branch);
    this.group.append(branch.element);
    if (this.view.selected === branch.path) this.view.mark();
  }

  // A child was created or deleted. Send one request at a time, and wait in between if there are many children:
  // each request makes the server read all of them.
  async refresh() {
    if (!this.open || this.busy) return;
    if (this.refreshing) {
      this.again = true;
      return;
    }
    this.refreshing = true;
    try {
      await this.readAgain();
    } finally {
      this.refreshing = false;
    }
    if (!this.again) return;
    this.again = false;
    setTimeout(() => this.refresh().catch(() => {}), this.total > 10000 ? 3000 : 300);
  }

  // Reloads the pages that are shown, as far as one reply goes, and changes only what differs.
  async readAgain() {
    const limit = Math.min(kPageMax, Math.max(kPage, this.children.length));
    const page = await get(
      "children",
      {path: this.path, from: this.begin || undefined, limit},
      this.view.signal,
    );
    this.total = page.total;
    this.more = page.more;
    const now = new Set(page.children.map((child) => child.name));
    const last = page.children.at(-1)?.name ?? "";
    const known = new Map(this.children.map((child) => [child.facts.name, child]));
    // Children beyond the reply do not change.
    const gone = this.children.filter(({facts: {name}}) => !now.has(name) && !(page.more && name > last));
    const beyond = this.children.filter(({facts: {name}}) => !now.has(name) && page.more && name > last);
    for (const child of gone) child.forget();
    const hadFocus = document.activeElement;
    const reread = page.children.map((facts) => {
      const before = known.get(facts.name);
      if (before) {
        before.total = facts.children;
        before.show();
        return before;
      }
      const fresh = new Branch(this.view, childOf(this.path, facts.name), facts, this.level + 1);
      fresh.row.classList.add("fresh");
      this.view.branches.set(fresh.path, fresh);
      return fresh;
    });
    this.children = [...reread, ...beyond];
    this.children.forEach((child, i) => {
      if (this.group.children[i] !== child.element)
        this.group.insertBefore(child.element, this.group.children[i] ?? null);
    });
    if (hadFocus?.isConnected) hadFocus.focus({preventScroll: true});
    this.after = this.children.at(-1)?.facts.name ?? null;
    if (this.total === 0) this.open = false;
    this.show();
    this.view.mark();
  }

  forget() {
    for (const child of this.children) child.forget();
    this.view.branches.delete(this.path);
    this.element.remove();
  }
}

class TreeView {
  constructor(main, signal) {
    this.signal = signal;
    this.branches = new Map();
    this.list = h("div", {
      class: "tree",
      role: "tree",
      "aria-label": "Nodes",
      onkeydown: (event) => this.onKey(event),
    });
    this.panel = new NodePanel(this);
    this.crumbs = h("nav", {class: "crumbs", "aria-label": "Path"});
    replace(
      main,
      h("h1", {class: "hidden"}, "Tree"),
      h(
        "div",
        {class: "split"},
        h("section", {class: "left", "aria-label": "Tree"}, this.list),
        h("section", {class: "right", "aria-label": "Node"}, this.crumbs, this.panel.element),
      ),
    );
    this.root = new Branch(this, "/", {name: "/", children: 1}, 0);
    this.branches.set("/", this.root);
    this.list.append(this.root.element);
    this.root.row.tabIndex = 0;
    const stop = [on("node", (event) => this.onEvent(event)), on("back", () => this.refreshAll())];
    signal.addEventListener("abort", () => stop.forEach((off) => off()));
  }

  go(path) {
    location.hash = pathToHash("tree", path);
  }

  // Opens the path to a node and shows it. If the node is on a later page, that page starts at the node.
  async select(path) {
    this.selected = path;
    replace(
      this.crumbs,
      ancestors(path).map((part) => [
        h("a", {href: pathToHash("tree", part), "aria-current": part === path ? "page" : null}, nameOf(part)),
        part !== path && part !== "/" && "/",
      ]),
    );
    this.mark();
    this.panel.show(path);
    for (const part of ancestors(path)) {
      const branch = this.branches.get(part);
      if (!branch) {
        const parent = this.branches.get(parentOf(part));
        if (!parent || !(parent.more || parent.begin)) break;
        await parent.reload(nameOf(part));
      }
      if (this.selected !== path) return;
      if (part !== path) await this.branches.get(part)?.toggle(true);
      else if (part === "/") await this.branches.get(part).toggle(true);
    }
    this.mark();
    this.branches.get(path)?.row.scrollIntoView({block: "nearest"});
    this.watchShown();
  }

  mark() {
    for (const row of this.list.querySelectorAll("[aria-selected]")) row.removeAttribute("aria-selected");
    const row = this.branches.get(this.selected)?.row;
    if (!row) return;
    row.setAttribute("aria-selected", "true");
    this.setTabStop(row);
  }

  setTabStop(row) {
    for (const other of this.list.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    row.tabIndex = 0;
  }

  focus(branch) {
    this.setTabStop(branch.row);
    branch.row.focus();
  }

  // The visible paths, the newest last: live.js uses only the first ones.
  watchShown() {
    const open = [...this.branches.values()].filter((branch) => branch.open).map((branch) => branch.path);
    watch([this.selected, ...open]);
  }

  async onEvent({path, exists}) {
    const branch = this.branches.get(path);
    if (branch && !exists) {
      if (path === this.selected) announce(`${path} was deleted.`);
    } else if (branch) {
      if (branch.total === 0 && !branch.open) this.branches.get(parentOf(path))?.refresh();
      await branch.refresh().catch(() => {});
    }
    if (path === this.selected) this.panel.refresh();
  }

  refreshAll() {
    for (const branch of this.branches.values()) if (branch.open) branch.refresh().catch(() => {});
    this.panel.refresh();
  }

  onKey(event) {
    if (!event.target.matches(".row")) return;
    const rows = [...this.list.querySelectorAll(".row")].filter((row) => row.offsetParent !== null);
    const at = rows.indexOf(event.target);
    const branch = this.branches.get(event.target.dataset.path);
    const move = (row) => row && this.focus(this.branches.get(row.dataset.path));
    const actions = {
      ArrowDown: () => move(rows[at + 1]),
      ArrowUp: () => move(rows[at - 1]),
      Home: () => move(rows[0]),
      End: () => move(rows.at(-1)),
      ArrowRight: () => (branch.open ? move(rows[at + 1]) : branch.toggle(true)),
      ArrowLeft: () =>
        branch.open ? branch.toggle(false) : move(this.branches.get(parentOf(branch.path))?.row),
      Enter: () => this.go(branch.path),
      " ": () => this.go(branch.path),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }
}

export function showTree(main, rest, signal) {
  const view = new TreeView(main, signal);
  view.select(hashToPath(rest));
  return (next) => view.select(hashToPath(next));
}
