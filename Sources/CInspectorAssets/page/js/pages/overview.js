// What needs a person, the map, and what ran.
import { h } from "../dom.js";
import { bytes, count, number } from "../format.js";
import { command, panel } from "../parts.js";
import { lanes, lanesLegend, lastRuns } from "../lanes.js";
import { map, mapLegend, stateCount } from "../map.js";
import { get, of, withQuery } from "../api.js";

const DAYS = 3 * 86400000;

const cards = [
  ["inDoubt", "in doubt", "sent, and no answer came"], ["refused", "refused", "the server said no"],
  ["conflict", "in conflict", "both sides changed the record"], ["skipped", "skipped", "a run did not send them"],
  ["held", "being sent", "by another process"], ["waiting", "waiting", "go with the next sync up"],
];

export const total = (store, state) => store.soups.reduce((sum, soup) => sum + stateCount(soup, state), 0);
export const failing = (store) => store.syncs.filter((sync) => sync.status === "FAILED" || sync.status === "ABANDONED");
/** What stays unsent until a person decides. */
export const needed = (store) => ["inDoubt", "refused", "conflict", "skipped"].reduce((sum, state) => sum + total(store, state), 0);

export default {
  name: "Overview",

  async load(app) {
    const runs = await get(withQuery(of(app.store.key, "runs"), { since: Date.now() - DAYS, limit: 1000 }));
    return { runs };
  },

  render({ runs }, app) {
    const { store, overview } = app, unsent = store.soups.reduce((sum, soup) => sum + soup.dirty, 0), person = needed(store);
    const entries = store.soups.reduce((sum, soup) => sum + soup.entries, 0), broken = failing(store);
    const hasHistory = runs && runs.history !== "off" && runs.runs.length > 0;
    const shown = hasHistory ? runs.runs : lastRuns(store.syncs);
    const names = [...new Set([...store.syncs.filter((sync) => sync.name || sync.startTime > 0).map((sync) => sync.name ?? `sync ${sync._soupEntryId}`), ...shown.map((run) => run.name ?? `sync ${run.syncId}`)])];
    return [
      h("h1", null, "Overview"),
      h("p", { class: "lead" }, unsent === 0 ? ["Nothing is unsent. "] : [h("b", null, count(unsent, "local change")), unsent === 1 ? " is" : " are", " not on the server yet",
        person ? [", and ", h("b", null, `${number(person)} of them`), person === 1 ? " needs" : " need", " a person"] : "", ". "],
        `The store ${store.storeName} has ${count(entries, "entry", "entries")} in ${count(store.soups.length, "soup")}, ${bytes(store.bytes)}.`),
      command(app.line("status")),
      h("ul", { class: "cards" },
        broken.length > 0 && h("li", { class: "failed" }, h("a", { href: app.to("runs", "failed") }, h("b", null, number(broken.length)), h("span", null, broken.length === 1 ? "sync failed" : "syncs failed"), h("small", null, broken.map((sync) => sync.name ?? `sync ${sync._soupEntryId}`).join(", ")))),
        cards.filter(([state]) => total(store, state) > 0).map(([state, name, meaning]) => h("li", { class: state },
          h("a", { href: app.to("unsent", state) }, h("b", null, number(total(store, state))), h("span", null, name), h("small", null, meaning))))),
      store.soups.length === 0
        ? panel(h("p", null, "The store has no soups yet. Run a script or a sync first."), command(app.line("sync", "--all")))
        : panel(map(store, overview, { sync: (sync) => app.to("runs", "of", sync.name ?? String(sync._soupEntryId)), soup: (soup) => app.to("soups", soup.soup) }), mapLegend(store)),
      h("h2", null, "What ran ", h("small", null, hasHistory ? "three days" : "the last run of each sync")),
      shown.length === 0
        ? panel(h("p", { class: "empty" }, "No sync has run yet."))
        : panel(lanes(names, shown, { link: hasHistory ? (run) => app.to("runs", run.run) : null }), lanesLegend()),
      !hasHistory && shown.length > 0 && app.noHistory(),
    ];
  },
};
