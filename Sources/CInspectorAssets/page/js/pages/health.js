// Is the home well? The doctor's checks with their fixes, how old each soup is, how large the stores are.
import { h, s, picture } from "../dom.js";
import { ago, bytes, clock, count, number, stamp } from "../format.js";
import { command, facts, table } from "../parts.js";
import { syncTag } from "../syncs.js";
import { get } from "../api.js";

const order = ["fail", "warn", "note", "skipped", "ok"];
const labels = { fail: "does not work", warn: "look at this", note: "worth to know", skipped: "not checked", ok: "in order" };

const sign = (status) => picture({ viewBox: "0 0 20 20", width: 20, height: 20, label: labels[status] ?? status }, {
  ok: () => [s("circle", { class: "ok", cx: 10, cy: 10, r: 8.5 }), s("path", { class: "on-panel", d: "M6 10.5l3 3 5-6.5" })],
  fail: () => [s("circle", { class: "bad", cx: 10, cy: 10, r: 8.5 }), s("path", { class: "on-panel", d: "M7 7l6 6m0-6l-6 6" })],
  warn: () => [s("path", { class: "waiting", d: "M10 1.5l9 16.5h-18z" }), s("path", { class: "on-panel", d: "M10 7.5v5m0 2v1.5" })],
}[status]?.() ?? [s("circle", { class: "hollow", cx: 10, cy: 10, r: 7.5 }), s("path", { class: "hollow", d: "M10 9v5m0-8.5v1.5" })]);

const fix = (text, app) => h("p", { class: "fix" }, "Fix: ", text.startsWith("tureen ") ? h("code", { class: "way" }, app.withOptions(text)) : text);

export default {
  name: "Health",
  isCostly: true,

  async load() { return { ...await get("health"), at: Date.now() }; },

  render({ checks, summary, at }, app) {
    const rows = app.store.syncs.filter((sync) => sync.name), bad = summary.fail + summary.warn;
    return [
      h("h1", null, "Health"),
      h("p", { class: "lead" }, `${count(checks.length, "check")}: `, bad === 0 ? "nothing to mend" : h("b", null, [summary.fail > 0 && `${number(summary.fail)} failed`, summary.warn > 0 && count(summary.warn, "warning")].filter(Boolean).join(", ")), ". Nothing was sent to a server for this page."),
      command(app.line("doctor", "--offline")),
      h("div", { class: "panel" }, h("ul", { class: "checks" }, order.flatMap((status) => checks.filter((check) => check.status === status)).map((check) =>
        h("li", null, sign(check.status), h("span", { class: "mono" }, check.name), h("div", null, h("p", null, check.text), check.fix && fix(check.fix, app)))))),
      h("div", { class: "buttons" }, h("button", { type: "button", id: "again", onclick: () => app.refresh() }, "Check again"), h("span", { class: "quiet" }, `Checked at ${clock(at)}.`)),
      h("h2", null, "How old each soup is"),
      h("div", { class: "panel" }, table("Syncs by age", [
        { title: "Sync", cell: (sync) => h("a", { href: app.to("runs", "of", sync.name) }, sync.name) }, { title: "Soup", cell: (sync) => sync.soupName },
        { title: "Last success", tight: true, cell: (sync) => (sync.lastSuccess ? [h("span", null, ago(sync.lastSuccess)), h("small", null, stamp(sync.lastSuccess))] : "not known") },
        { title: "State", tight: true, cell: syncTag },
        { title: "Last verified", wide: true, cell: (sync) => (sync.lastVerified ? ago(sync.lastVerified) : "never") },
      ], rows, { empty: "The store has no named syncs." })),
      h("h2", null, "Stores"),
      h("div", { class: "panel" }, table("Stores", [
        { title: "Store", cell: (store) => (store.isGlobalStore ? `${store.storeName} (global)` : store.storeName) }, { title: "Engine", cell: (store) => ({ sqlite: "SQLite", postgres: "PostgreSQL" }[store.engine] ?? store.engine) },
        { title: "Size", number: true, cell: (store) => bytes(store.bytes) }, { title: "Log", number: true, cell: (store) => (store.walBytes === null ? "" : bytes(store.walBytes)) },
        { title: "Soups", number: true, cell: (store) => number(store.soups.length) }, { title: "History", cell: (store) => store.history },
      ], app.overview.stores)),
      h("h2", null, "Where things are"),
      h("div", { class: "panel" }, facts([["home", h("span", { class: "mono" }, app.overview.home)], ["org", app.overview.org], ["user", app.overview.user], ["API", app.overview.apiVersion], ["Tureen", app.version]])),
    ];
  },
};
