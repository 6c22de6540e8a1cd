// What is not on the server, why, and what ends that.
import { h } from "../dom.js";
import { ago, actor, count, number } from "../format.js";
import { change, command, more, table, tag, ask } from "../parts.js";
import { get, of, post, withQuery } from "../api.js";
import { total } from "./overview.js";

const order = ["inDoubt", "refused", "conflict", "skipped", "held", "waiting"];
const titles = { inDoubt: "In doubt", refused: "Refused", conflict: "In conflict", skipped: "Skipped", held: "Being sent", waiting: "Waiting" };
const options = { conflict: "--conflicts", refused: "--refused", inDoubt: "--in-doubt", waiting: "--waiting", skipped: "--skipped" };
const SHOWN = 8, PAGE = 200;

function what(entry) {
  if (entry.action === "create") return "created here";
  if (entry.action === "delete") return "deleted here";
  const [first, ...rest] = entry.values ?? [];
  if (!first) return entry.fields.join(", ") || "changed";
  return [h("span", { class: "quiet" }, `${first.name} `), change(first.base, first.value, 26), rest.length > 0 && h("span", { class: "quiet" }, ` and ${rest.map((one) => one.name).join(", ")}`)];
}

function when(entry) {
  const by = actor(entry.by), since = entry.since ? ago(entry.since) : entry.lastTry ? `last tried ${ago(entry.lastTry)}` : "";
  return [by && `by ${by}`, since].filter(Boolean).join(", ");
}

async function discard(app, entry) {
  const isNew = entry.action === "create", name = entry.title ?? `${entry.soupName} ${entry.entryId}`;
  const goesOn = await ask(`Discard the change of ${name}?`, isNew
    ? "The record was created here and exists nowhere else. It is removed, and cannot be brought back."
    : entry.action === "delete" ? "The deletion is taken back; the record stays." : `${entry.fields.join(", ") || "The change"} gets the server's last known value. What was typed here is lost.`,
  isNew ? "Remove it" : "Discard", true);
  if (!goesOn) return;
  const result = await post(of(app.store.key, "discard"), { soupName: entry.soupName, entryIds: [entry.entryId], created: isNew });
  app.say(result.kept?.length ? `It stays: ${result.kept[0].text}` : `The change of ${name} is discarded.`);
  app.refresh();
}

function wayOut(app, entry) {
  const commands = entry.remedies.filter((one) => one.startsWith("tureen ")), rest = entry.remedies.filter((one) => !one.startsWith("tureen "));
  return [
    rest.length > 0 && h("span", null, rest.join(", ")),
    entry.state === "conflict" && h("a", { href: app.to("conflicts", entry.soupName, entry.entryId) }, "Decide field by field"),
    entry.state === "conflict" ? null : commands.map((one) => h("code", { class: "way" }, app.withOptions(one))),
    app.canWrite && ["refused", "skipped", "conflict", "waiting"].includes(entry.state) && h("button", { type: "button", class: "small", onclick: () => app.doing(discard(app, entry)) }, "Discard …"),
  ];
}

const columns = (app) => [
  { title: "Record", cell: (entry) => [h("a", { href: app.to("record", entry.soupName, entry.entryId) }, entry.title ?? "(no title)"), h("small", { class: "mono" }, `${entry.soupName} ${entry.entryId}`)] },
  { title: "Change", cell: (entry) => [h("span", null, what(entry)), h("small", null, when(entry))] },
  { title: "Why it is here", cell: (entry) => entry.reason?.text ?? (entry.state === "waiting" ? "nothing is wrong; it waits for its turn" : "not known") },
  { title: "Way out", cell: (entry) => h("div", { class: "ways" }, wayOut(app, entry)) },
];

export default {
  name: "Unsent",

  async load(app, [only]) {
    const wanted = order.filter((state) => (!only || state === only) && total(app.store, state) > 0);
    const parts = await Promise.all(wanted.map(async (state) => ({
      state, ...await get(withQuery(of(app.store.key, "unsent"), { state, limit: only ? PAGE : SHOWN, after: only ? app.form.after : null })),
    })));
    return { parts };
  },

  render({ parts }, app, [only]) {
    const all = app.store.soups.reduce((sum, soup) => sum + soup.dirty, 0);
    return [
      h("h1", null, only ? titles[only] ?? only : "Unsent changes"),
      h("p", { class: "lead" }, "Everything that was changed here and is not on the server, with the reason and the way out."),
      command(app.line("dirty", ...(options[only] ? [options[only]] : []))),
      h("nav", { class: "chips", "aria-label": "States" },
        h("a", { href: app.to("unsent"), "aria-current": only ? null : "true" }, `All ${number(all)}`),
        order.filter((state) => total(app.store, state) > 0).map((state) => h("a", { href: app.to("unsent", state), "aria-current": only === state ? "true" : null }, `${titles[state]} ${number(total(app.store, state))}`))),
      all === 0 && h("p", { class: "panel empty" }, "Nothing is unsent: every change is on the server."),
      only && parts.length === 0 && all > 0 && h("p", { class: "panel empty" }, `No entry is ${titles[only]?.toLowerCase() ?? only}. `, h("a", { href: app.to("unsent") }, "Show all")),
      parts.map((part) => h("section", { class: "group" },
        h("h2", null, tag(part.state), h("small", null, count(part.total, "entry", "entries"))),
        h("div", { class: "panel entries" }, table(titles[part.state], columns(app), part.entries),
          !only && more(part.entries.length, part.total, h("a", { href: app.to("unsent", part.state) }, `All ${number(part.total)}`)),
          only && pages(app, part)))),
    ];
  },
};

function pages(app, part) {
  const after = app.form.after ?? 0;
  if (part.total <= PAGE) return null;
  const go = (to) => () => { app.form.after = to; app.refresh(); };
  return h("div", { class: "buttons" },
    h("span", { class: "quiet" }, `${number(after + 1)} to ${number(after + part.entries.length)} of ${number(part.total)}`),
    h("button", { type: "button", id: "earlier", disabled: after === 0, onclick: go(Math.max(0, after - PAGE)) }, "Earlier"),
    h("button", { type: "button", id: "later", disabled: part.next === null, onclick: go(part.next) }, "Later"));
}
