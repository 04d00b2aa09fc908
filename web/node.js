// SPDX-License-Identifier: Apache-2.0
//
// One node: its data, Stat and ACL, and an editor if the server allows changes.

import {get, remove, setData} from "./api.js";
import {announce, empty, failure, h, loading, replace} from "./dom.js";
import {beginEditing, fromBase64, guess, hexDump, prettyJson, textOf, toBase64} from "./data.js";
import {ago, bytes, count, time} from "./format.js";
import {nameOf, parentOf} from "./paths.js";

export class NodePanel {
  constructor(view) {
    this.view = view;
    this.form = null; // text, json or hex: as chosen
    this.element = h("div", {class: "node"});
  }

  async show(path) {
    this.path = path;
    this.editing = false;
    replace(this.element, loading(path));
    await this.refresh();
  }

  // Also after a change by another client. Text that is being typed is kept.
  async refresh() {
    const path = this.path;
    try {
      const node = await get("node", {path}, this.view.signal);
      if (path !== this.path) return;
      const news = this.node?.path === path && this.node.stat.mzxid !== node.stat.mzxid;
      this.node = node;
      if (this.editing) this.warnOfChange();
      else this.draw(news);
    } catch (error) {
      if (error.name === "AbortError" || path !== this.path) return;
      this.node = null;
      this.drawError(error);
    }
  }

  drawError(error) {
    if (error.code === "NoNode")
      replace(this.element, empty("There is no such node. ", h("span", {class: "mono"}, this.path)));
    else if (error.code === "NoAuth")
      replace(
        this.element,
        empty("The ACL does not let you read this node. Sign in at the top right."),
      );
    else
      replace(
        this.element,
        failure(error, () => this.refresh()),
      );
  }

  draw(news) {
    const {node} = this;
    const data = node.data === null ? null : fromBase64(node.data);
    this.bytes = data;
    replace(
      this.element,
      h(
        "header",
        {},
        h("h2", {class: news ? "news" : ""}, nameOf(node.path)),
        node.kind !== "persistent" && h("span", {class: "tag"}, node.kind),
        this.actions(),
      ),
      this.dataSection(data),
      h("div", {class: "columns"}, this.statSection(), this.aclSection()),
    );
  }

  actions() {
    const {node} = this;
    if (!node.edit) return null;
    return h(
      "div",
      {class: "buttons"},
      node.may.write && !node.truncated && h("button", {type: "button", onclick: () => this.edit()}, "Edit"),
      node.may.delete &&
        node.stat.numChildren === 0 &&
        node.path !== "/" &&
        h("button", {type: "button", class: "danger", onclick: () => this.askToDelete()}, "Delete"),
    );
  }

  dataSection(data) {
    const {node} = this;
    if (data === null) return h("section", {class: "data"}, empty("No data (null)."));
    if (!data.length) return h("section", {class: "data"}, empty("No data (0 bytes)."));
    const forms = guess(data);
    const form = forms.includes(this.form) ? this.form : forms[0];
    const shown = {text: () => textOf(data), json: () => prettyJson(data), hex: () => hexDump(data)}[form]();
    return h(
      "section",
      {class: "data"},
      h(
        "div",
        {class: "bar"},
        h(
          "div",
          {class: "segments", role: "group", "aria-label": "Shown as"},
          ["json", "text", "hex"].map((name) =>
            h(
              "button",
              {
                type: "button",
                "aria-pressed": String(name === form),
                disabled: !forms.includes(name),
                onclick: () => {
                  this.form = name;
                  this.draw();
                },
              },
              name === "json" ? "JSON" : name,
            ),
          ),
        ),
        h(
          "span",
          {class: "hint"},
          node.truncated
            ? `the first ${bytes(data.length)} of ${bytes(node.stat.dataLength)}`
            : bytes(node.stat.dataLength),
        ),
      ),
      h("pre", {class: form, tabindex: "0"}, shown),
    );
  }

  statSection() {
    const {stat, now} = this.node;
    const rows = [
      ["Changed", [time(stat.mtime), h("small", {}, ` ${ago(stat.mtime, now)}`)]],
      ["Created", [time(stat.ctime), h("small", {}, ` ${ago(stat.ctime, now)}`)]],
      ["Version", `${stat.version} data · ${stat.cversion} children · ${stat.aversion} ACL`],
      ["Children", count(stat.numChildren)],
      ["czxid", stat.czxid, true],
      ["mzxid", stat.mzxid, true],
      ["pzxid", stat.pzxid, true],
      stat.ephemeralOwner !== "0x0" && [
        "Owner",
        h("a", {href: `#/sessions/${stat.ephemeralOwner}`}, stat.ephemeralOwner),
        true,
      ],
    ].filter(Boolean);
    return h(
      "section",
      {},
      h("h3", {}, "Stat"),
      h(
        "dl",
        {class: "facts"},
        rows.map(([name, value, mono]) => [h("dt", {}, name), h("dd", {class: mono ? "mono" : ""}, value)]),
      ),
    );
  }

  aclSection() {
    const {acl} = this.node;
    const letters = {c: "create", d: "delete", r: "read", w: "write", a: "admin"};
    return h(
      "section",
      {},
      h("h3", {}, "ACL"),
      acl.map((entry) =>
        h(
          "div",
          {class: "acl"},
          h("span", {class: "mono"}, `${entry.scheme}:${entry.id}`),
          h(
            "span",
            {class: "perms"},
            Object.entries(letters).map(([letter, word]) =>
              h(
                "abbr",
                {
                  class: entry.perms.includes(letter) ? "on" : "",
                  title: `${word}: ${entry.perms.includes(letter) ? "yes" : "no"}`,
                },
                letter,
              ),
            ),
          ),
        ),
      ),
    );
  }

  // ---- editing ----

  edit() {
    this.editing = true;
    const {node} = this;
    const version = node.stat.version;
    const area = h("textarea", {
      spellcheck: "false",
      "aria-label": `Data of ${node.path}`,
      rows: 14,
    });
    const form = beginEditing(area, this.bytes ?? new Uint8Array());
    this.note = h("p", {class: "bad", role: "alert"});
    const leave = () => {
      this.editing = false;
      this.refresh();
    };
    const save = h("button", {class: "primary"}, "Save");
    replace(
      this.element,
      h("header", {}, h("h2", {}, nameOf(node.path))),
      form.note && h("p", {class: "hint"}, form.note),
      h(
        "form",
        {
          class: "edit",
          onsubmit: async (event) => {
            event.preventDefault();
            save.disabled = true;
            try {
              await setData(node.path, toBase64(form.encode(area.value)), version);
              announce("Saved.");
              leave();
            } catch (error) {
              save.disabled = false;
              this.note.textContent =
                error.code === "BadVersion"
                  ? "The node was changed while you edited it. Copy your text, cancel, and compare."
                  : error.message;
            }
          },
        },
        area,
        this.note,
        h("div", {class: "buttons"}, save, h("button", {type: "button", onclick: leave}, "Cancel")),
      ),
    );
    area.focus();
  }

  // If a conflict was already reported, keep that message.
  warnOfChange() {
    if (!this.note.textContent) this.note.textContent = "The node was changed while you edit it.";
  }

  askToDelete() {
    const {node} = this;
    const note = h("p", {class: "bad", role: "alert"});
    const box = h(
      "dialog",
      {"aria-label": "Delete a node", onclose: () => box.remove()},
      h("h2", {}, "Delete this node?"),
      h("p", {class: "mono"}, node.path),
      note,
      h(
        "div",
        {class: "buttons"},
        h(
          "button",
          {
            type: "button",
            class: "danger",
            onclick: async () => {
              try {
                await remove(node.path, node.stat.version);
                box.close();
                this.view.go(parentOf(node.path));
              } catch (error) {
                note.textContent = error.message;
              }
            },
          },
          "Delete",
        ),
        h("button", {type: "button", onclick: () => box.close()}, "Cancel"),
      ),
    );
    document.body.append(box);
    box.showModal();
  }
}
