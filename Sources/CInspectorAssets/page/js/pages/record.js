// One record: one sentence, its story, and its versions.
import { h } from "../dom.js";
import { actor, cut, exactStamp, stamp, value } from "../format.js";
import { change, command, facts, marked, tag } from "../parts.js";
import { ApiError, get, of } from "../api.js";
import { fieldsOf } from "./conflicts.js";

const LATEST = 40;

async function unless404(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

export default {
  name: "Record",
  section: "soups",

  async load(app, [soup, entry]) {
    const story = await get(of(app.store.key, "soups", soup, "entries", entry, "explain"));
    const isThere = !["removed", "unknown"].includes(story.state);
    const [record, conflict] = await Promise.all([
      isThere ? unless404(get(of(app.store.key, "soups", soup, "entries", entry))) : null,
      story.state === "conflict" ? unless404(get(of(app.store.key, "conflicts", soup, entry))) : null,
    ]);
    return { record, story, conflict };
  },

  render({ record, story, conflict }, app, [soup, entry]) {
    const recordId = story.recordId ?? record?.Id ?? record?.id ?? record?.objectId;
    return [
      h("h1", null, story.title ?? `${soup} ${entry}`, " ", tag(story.state)),
      h("p", { class: "say" }, story.text),
      command(app.line("explain", soup, entry)),
      conflict && h("p", null, h("a", { class: "button", href: app.to("conflicts", soup, entry) }, "Decide the conflict field by field")),
      h("div", { class: "story" },
        h("section", null, h("h2", null, "Its story"), h("div", { class: "panel" }, timeline(story, app))),
        h("section", null,
          h("h2", null, story.state === "clean" ? "As it is" : "Before and here"), h("div", { class: "panel" }, versions(story, conflict)),
          record && [h("h2", null, "Its row"), h("div", { class: "panel" }, facts([
            ["soup, entry", h("span", { class: "mono" }, `${soup} ${entry}`)], ["record id", recordId ? h("span", { class: "mono" }, cut(String(recordId), 60)) : "none yet"],
            ["fetched by", story.owners.join(", ") || null], ["last written", record._soupLastModifiedDate ? stamp(record._soupLastModifiedDate) : null],
            ["flags", Object.keys(record).filter((key) => /^__local/.test(key) && record[key] === true).join(", ") || "none"]]))])),
    ];
  },
};

const sides = { created: "here", updated: "here", deleted: "here", uploaded: "here", merged: "server", settled: "server", conflict: "conflict", refused: "refused", inDoubt: "inDoubt", skipped: "skipped", resolved: "here", adopted: "server", discarded: "here", repaired: "server", removed: "server" };

function timeline(story, app) {
  const log = story.log.slice(0, LATEST);
  return h("ol", { class: "time" },
    story.next.map((next) => h("li", { class: "next" }, h("b", null, "Next: "), next.text, next.syncName && h("small", null, next.syncName))),
    log.map((row) => h("li", { class: row.syncName && !row.by && ["created", "updated", "deleted", "removed"].includes(row.cause) ? "server" : sides[row.cause] ?? "" },
      h("span", null, row.text || row.cause), row.times > 1 && h("span", { class: "quiet" }, ` ${row.times} times`),
      row.changes?.length > 0 && h("ul", { class: "changes" }, row.changes.map((one) => h("li", null, h("span", { class: "quiet" }, `${one.name} `), change(one.from, one.to)))),
      h("small", null, row.at ? exactStamp(row.at) : "", row.run ? [" · ", h("a", { href: app.to("runs", row.run) }, `run ${row.run}`)] : row.by ? ` · ${actor(row.by)}` : "", row.version ? ` · version ${row.version}` : "", row.certain === false && " · at the latest"))),
    log.length === 0 && h("li", { class: "quiet" }, story.history === "off" ? "History is off for this store, so that only the present state is known." : "Nothing is recorded about it."));
}

/** Only fields that were changed here have a base. */
function versionsOf({ from, base, value: local }) {
  const isChanged = from?.kind === "local" || (base !== null && JSON.stringify(base) !== JSON.stringify(local));
  return { isChanged, base: isChanged ? base : local };
}

/** The fields with their versions. */
function versions(story, conflict) {
  if (!story.fields.length) return h("p", { class: "empty" }, "The entry is not in the soup.");
  const inConflict = new Set(conflict ? fieldsOf(conflict) : []), server = conflict?.server;
  const fields = story.fields.map((one) => ({ ...one, server: server && inConflict.has(one.name) ? server[one.name] : one.server, ...versionsOf(one) }))
    .sort((a, b) => Number(b.isChanged || inConflict.has(b.name)) - Number(a.isChanged || inConflict.has(a.name)));
  const isDirty = fields.some((one) => one.isChanged), hasServer = fields.some((one) => one.server !== undefined && one.server !== null);
  const origin = (from) => from && from.kind !== "unknown" && (from.kind !== "server" || (from.run && from.certain)) ? `${from.kind === "local" ? `changed here${from.by ? ` by ${actor(from.by)}` : ""}` : from.kind === "server" ? "from the server" : from.kind}${from.run ? `, run ${from.run}` : ""}${from.certain === false ? ", at the latest" : ""}` : null;
  return h("div", { class: "scroll", role: "region", "aria-label": "Fields", tabindex: "0" }, h("table", { class: "three" },
    h("caption", { class: "hidden" }, "Fields of the record"),
    h("thead", null, h("tr", null, ["Field", ...(isDirty ? ["As the server last had it"] : []), "Here", ...(hasServer ? ["Server now"] : [])].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", null, fields.map((one) => h("tr", { class: inConflict.has(one.name) && one.isChanged && conflict.fields.includes(one.name) ? "both" : null },
      h("th", { scope: "row" }, one.name),
      isDirty && h("td", { class: "same", "data-title": "Server last" }, value(one.base)),
      h("td", { class: one.isChanged ? null : "same", "data-title": "Here" }, one.isChanged ? marked(one.base, one.value) : value(one.value), origin(one.from) && h("small", null, origin(one.from))),
      hasServer && h("td", { "data-title": "Server now" }, one.server === undefined || one.server === null ? "" : marked(one.base, one.server)))))));
}

