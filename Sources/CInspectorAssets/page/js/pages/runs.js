// What ran: who started it, what it moved, what it cost.
import { h } from "../dom.js";
import { actor, ago, bytes, count, cut, duration, number, stamp } from "../format.js";
import { command, panel, table, tag } from "../parts.js";
import { lanes, lanesLegend, lastRuns, result } from "../lanes.js";
import { freshness } from "../map.js";
import { syncTag } from "../syncs.js";
import { ask } from "../parts.js";
import { get, of, post, withQuery } from "../api.js";

const PAGE = 100;
const titleOf = (run) => run.name ?? `sync ${run.syncId}`;
export const runTag = (run) => (run.status === "DONE" && run.look ? tag("look", "DONE, look") : tag(run.status, run.status));

async function start(app, sync) {
  const name = sync.name ?? `sync ${sync._soupEntryId}`, isUp = sync.type === "syncUp";
  const goesOn = await ask(`Run ${name}?`, isUp ? "It sends local changes to the server." : "It fetches from the server and changes the soup.", "Run", false);
  if (!goesOn) return;
  const answer = await post(of(app.store.key, "syncs", sync._soupEntryId, "run"), {});
  app.say(answer?.status ? `${name}: ${answer.status}` : `${name} has started.`);
  app.refresh();
}

function syncs(app, only) {
  const shown = app.store.syncs.filter((sync) => sync.name || sync.startTime > 0).filter((sync) => !only || (sync.name ?? String(sync._soupEntryId)) === only);
  return h("div", { class: "panel" }, table("Syncs", [
    { title: "Sync", cell: (sync) => h("a", { href: app.to("runs", "of", sync.name ?? String(sync._soupEntryId)) }, sync.name ?? `sync ${sync._soupEntryId}`) },
    { title: "Kind", tight: true, cell: (sync) => `${sync.type === "syncUp" ? "▲ sends" : "▼ fetches"} ${sync.soupName}` },
    { title: "State", cell: syncTag },
    { title: "Last run", tight: true, cell: (sync) => freshness(sync).text },
    { title: "Result", cell: (sync) => (sync.startTime > 0 ? cut(result(lastRuns([sync])[0]), 80) : "") },
    ...(app.canWrite ? [{ title: "Run it", tight: true, cell: (sync) => sync.status === "RUNNING"
      ? h("button", { type: "button", class: "small", onclick: () => app.doing(post(of(app.store.key, "syncs", sync._soupEntryId, "stop"), {})) }, "Stop")
      : sync._soupEntryId > 0 && h("button", { type: "button", class: "small", "aria-label": `Run ${sync.name ?? sync._soupEntryId}`, onclick: () => app.doing(start(app, sync)) }, "Run …") }] : []),
  ], shown, { empty: "The store has no syncs yet." }));
}

export default {
  name: "Runs",

  async load(app, [what, sync]) {
    const known = what === "of" ? app.store.syncs.find((one) => (one.name ?? String(one._soupEntryId)) === sync) : null;
    // A sync of the project's files that never ran is not in the store.
    if (what === "of" && !(known?.startTime > 0)) return { runs: null };
    const filters = { limit: PAGE, failed: what === "failed" ? "true" : null, syncId: known?._soupEntryId, before: app.form.before };
    return { runs: await get(withQuery(of(app.store.key, "runs"), filters)) };
  },

  render({ runs }, app, [what, sync]) {
    const only = what === "of" ? sync : null, hasHistory = runs && runs.history !== "off" && runs.runs.length > 0;
    const list = hasHistory ? runs.runs : [], failed = list.filter((run) => run.status === "FAILED").length;
    const names = [...new Set((hasHistory ? list.map(titleOf) : app.store.syncs.map((one) => one.name).filter(Boolean)))].sort();
    return [
      h("h1", null, only ? `Runs of ${only}` : what === "failed" ? "Failed runs" : "Runs"),
      h("p", { class: "lead" }, hasHistory ? [h("b", null, count(list.length, "run")), ` since ${stamp(list.at(-1).startedAt)}`, failed > 0 && [", ", h("b", null, `${number(failed)} failed`)], ". Who started each, what it moved, what it cost."] : "How the last run of each sync went."),
      command(app.line("runs", ...(only ? [only] : []), ...(what === "failed" ? ["--failed"] : []))),
      h("nav", { class: "chips", "aria-label": "Which runs" },
        h("a", { href: app.to("runs"), "aria-current": what ? null : "true" }, "All"), h("a", { href: app.to("runs", "failed"), "aria-current": what === "failed" ? "true" : null }, "Failed"),
        app.store.syncs.filter((one) => one.name).map((one) => h("a", { href: app.to("runs", "of", one.name), "aria-current": only === one.name ? "true" : null }, one.name))),
      hasHistory && panel(lanes(names, list, { link: (run) => app.to("runs", run.run) }), lanesLegend()),
      !hasHistory && app.noHistory(runs?.history === "off" ? "History is off for this store." : what ? "No such run is recorded." : "No runs are recorded yet."),
      hasHistory && [h("h2", null, "Latest first"), h("div", { class: "panel" }, table("Runs", [
        { title: "Run", number: true, cell: (run) => h("a", { href: app.to("runs", run.run) }, String(run.run)) },
        { title: "When", tight: true, cell: (run) => [h("span", null, stamp(run.startedAt)), h("small", null, ago(run.startedAt))] },
        { title: "Sync", tight: true, cell: titleOf }, { title: "State", tight: true, cell: runTag },
        { title: "Result", cell: (run) => cut(result(run), 90) },
        { title: "By", wide: true, tight: true, cell: (run) => actor(run.by) },
        { title: "Requests", number: true, wide: true, cell: (run) => number(run.counts?.requests ?? 0) },
        { title: "Received", number: true, wide: true, cell: (run) => (run.counts?.bytes ? bytes(run.counts.bytes) : "") },
        { title: "Took", number: true, cell: (run) => (run.endedAt ? duration(run.endedAt - run.startedAt) : "") },
      ], list), list.length === PAGE && h("div", { class: "buttons" }, app.form.before && h("button", { type: "button", id: "newest", onclick: () => { app.form.before = null; app.refresh(); } }, "Newest"),
        h("button", { type: "button", id: "older", onclick: () => { app.form.before = list.at(-1).run; app.refresh(); } }, "Older")))],
      what !== "failed" && [h("h2", null, "Syncs"), syncs(app, only)],
    ];
  },
};
