// One run: what it did over time, what it cost, and which entries it touched.
import { h } from "../dom.js";
import { actor, ago, bytes, count, cut, duration, exactStamp, failure, number } from "../format.js";
import { command, facts, panel, table } from "../parts.js";
import { result } from "../lanes.js";
import { isBad, waterfall } from "../waterfall.js";
import { ApiError, get, of } from "../api.js";
import { runTag } from "./runs.js";

const DRAWN = 120, LISTED = 100;
const labels = { fetched: "fetched", stored: "stored", succeeded: "sent", failed: "refused", skipped: "skipped", conflicting: "in conflict", inDoubt: "in doubt", merged: "merged", removed: "removed", flagged: "unusable", pages: "pages", requests: "requests", retries: "retries" };

export default {
  name: "Run",
  section: "runs",

  async load(app, [number]) {
    try {
      const found = await get(of(app.store.key, "runs", number));
      return { run: found?.runs?.[0] ?? null };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return { run: null };
      throw error;
    }
  },

  render({ run }, app, [wanted]) {
    if (!run) return [h("h1", null, `Run ${wanted}`), app.noHistory("No such run is recorded; the history keeps the newest ones."), h("p", null, h("a", { href: app.to("runs") }, "All runs"))];
    const name = run.name ?? `sync ${run.syncId}`, took = run.endedAt ? duration(run.endedAt - run.startedAt) : null;
    const requests = (run.events ?? []).filter((event) => event.kind === "request"), c = run.counts ?? {};
    return [
      h("h1", null, `Run ${run.run} of ${name} `, runTag(run)),
      h("p", { class: "say" }, run.status === "FAILED"
        ? [`Failed${took ? ` after ${took}` : ""}: `, h("b", { class: "text refused" }, failure(run.error)), run.error?.retryable ? ". It is worth trying again; what was stored stays." : "."]
        : run.status === "RUNNING" ? `Running since ${ago(run.startedAt)}.`
          : run.status === "ABANDONED" ? "Its process ended in the middle; what was stored stays, and the next run goes on from there."
            : `${actor(run.by) || "Someone"} started it ${ago(run.startedAt)}: ${result(run)}${took ? `, in ${took}` : ""}.`),
      command(app.line("runs", String(run.run))),
      h("h2", null, "What it did ", h("small", null, [requests.length && count(requests.length, "request"), requests.some(isBad) && `${number(requests.filter(isBad).length)} without success`].filter(Boolean).join(", "))),
      run.events?.length ? panel(waterfall(run, DRAWN), (run.omitted > 0 || run.events.length > DRAWN) && h("p", { class: "quiet" }, `${number(run.omitted + Math.max(0, run.events.length - DRAWN))} more are not drawn.`))
        : panel(h("p", { class: "empty" }, "No events of this run are kept.")),
      h("div", { class: "two" },
        h("section", null, h("h2", null, "Figures"), h("div", { class: "panel" }, facts([
          ["started", exactStamp(run.startedAt)], ["by", [actor(run.by), run.by?.host && ` on ${run.by.host}`, run.by?.pid && `, process ${run.by.pid}`]],
          ["took", took], ...Object.entries(labels).filter(([key]) => c[key] > 0).map(([key, label]) => [label, number(c[key])]),
          ["received", c.bytes ? bytes(c.bytes) : null], ["API calls", run.limitInfo?.replace("api-usage=", "").replace("/", " of ") || null], ["job", run.job ?? null], ["plan", run.plan ?? null]])),
        run.warnings?.length > 0 && h("div", { class: "panel" }, h("h3", null, "Warnings"), h("ul", null, run.warnings.map((one) => h("li", null, one)))),
        run.errors?.length > 0 && h("div", { class: "panel" }, h("h3", null, "Errors"), table("Errors", [
          { title: "Code", cell: (error) => error.code }, { title: "Times", number: true, cell: (error) => number(error.count) }, { title: "Message", cell: (error) => error.message ?? "" }], run.errors))),
        h("section", null, h("h2", null, "Entries it touched ", h("small", null, (run.entries ?? []).map((group) => `${number(group.count)} ${group.cause}`).join(", "))),
          h("div", { class: "panel" }, entries(run, app)))),
    ];
  },
};

function entries(run, app) {
  const rows = (run.entries ?? []).flatMap((group) => group.records.map((record) => ({ ...record, cause: group.cause })));
  const total = (run.entries ?? []).reduce((sum, group) => sum + group.count, 0);
  return [
    table("Entries", [
      { title: "Entry", cell: (row) => (row.entryId ? h("a", { href: app.to("record", row.soupName, row.entryId) }, `${row.soupName} ${row.entryId}`) : `${row.soupName} ${row.recordId ?? ""}`) },
      { title: "What", cell: (row) => row.cause }, { title: "Fields", cell: (row) => cut((row.fields ?? []).join(", "), 60) }, { title: "Reason", cell: (row) => row.reason ?? "" },
    ], rows.slice(0, LISTED), { empty: run.counts?.stored > 0 ? "A first load is not recorded entry by entry." : "None." }),
    total > Math.min(rows.length, LISTED) && h("p", { class: "more" }, `${number(Math.min(rows.length, LISTED))} of ${number(total)}.`),
  ];
}
