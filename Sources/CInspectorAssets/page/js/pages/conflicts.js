// Conflicts: what was before, is here, and is on the server; a side for each field, and what comes of it.
import { h } from "../dom.js";
import { ago, count, cut, kindWords, number, quoted, value } from "../format.js";
import { ask, command, marked, tag } from "../parts.js";
import { ApiError, get, getTagged, of, post, withQuery } from "../api.js";

const PAGE = 500;

export default {
  name: "Conflicts",

  async load(app, [soup, entry]) {
    const list = await get(withQuery(of(app.store.key, "conflicts"), { limit: PAGE }));
    const first = list.conflicts[0], at = soup ? { soupName: soup, entryId: Number(entry) } : first;
    let chosen = null, tagOf = null, gone = false;
    if (at) {
      try {
        const found = await getTagged(of(app.store.key, "conflicts", at.soupName, at.entryId));
        [chosen, tagOf] = [found.body, found.tag];
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        gone = true;
      }
    }
    return { list, chosen, tagOf, gone };
  },

  render({ list, chosen, tagOf, gone }, app, [soup, entry]) {
    const kinds = Map.groupBy ? [...Map.groupBy(list.conflicts, (one) => one.kind)] : [];
    return [
      h("h1", null, "Conflicts"),
      list.total === 0
        ? [h("p", { class: "lead" }, "No record was changed on both sides."), command(app.line("conflicts"))]
        : [
          h("p", { class: "lead" }, h("b", null, count(list.total, "record")), " changed here and on the server", kinds.length > 1 && `: ${kinds.map(([kind, ones]) => `${number(ones.length)} ${kindWords[kind]}`).join("; ")}`, ". They stay as they are until someone decides."),
          command(app.line("conflicts", ...(chosen && soup ? [chosen.soupName, String(chosen.entryId)] : []))),
        ],
      gone && h("p", { class: "panel" }, `${soup} ${entry} has no conflict any more. `, h("a", { href: app.to("record", soup, entry) }, "Its record")),
      list.total > 0 && h("div", { class: "split" },
        h("ul", { class: "list", "aria-label": "Conflicts", id: "conflict-list" }, list.conflicts.map((one) => h("li", null,
          h("a", { href: app.to("conflicts", one.soupName, one.entryId), "aria-current": chosen && one.soupName === chosen.soupName && one.entryId === chosen.entryId ? "true" : null },
            one.title ?? `${one.soupName} ${one.entryId}`, h("small", null, `${one.soupName} ${one.entryId} · ${one.kind === "changed" ? cut(one.fields.join(", ") || "other fields", 26) : kindWords[one.kind]}`)))),
        list.next !== null && h("li", { class: "quiet" }, `${number(list.conflicts.length)} of ${number(list.total)}`)),
        chosen && detail(chosen, tagOf, app)),
    ];
  },
};

/** The sides that are chosen until a person chooses: what only the server changed comes in, and ours wins elsewhere. */
const sides = (conflict) => new Map(conflict.localChanges.map((name) => [name, "mine"]));

/** The words of `tureen conflicts resolve` for these sides, and the body of the request. */
export function decision(conflict, picked) {
  const ours = [...picked].filter(([, side]) => side === "mine").map(([name]) => name);
  if (conflict.kind !== "changed" || ours.length === picked.size) return { words: [ours.length || !picked.size ? "--mine" : "--theirs"], body: { side: ours.length || !picked.size ? "mine" : "theirs" } };
  if (ours.length === 0) return { words: ["--theirs"], body: { side: "theirs" } };
  const theirs = [...picked].filter(([, side]) => side === "theirs").map(([name]) => name);
  return { words: ["--mine", ...theirs.flatMap((name) => ["--field", `${name}=theirs`])], body: { side: "mine", fields: Object.fromEntries(theirs.map((name) => [name, "theirs"])) } };
}

function detail(conflict, tagOf, app) {
  const place = `${conflict.soupName}/${conflict.entryId}`;
  if (app.form.place !== place || app.form.tag !== tagOf) Object.assign(app.form, { place, tag: tagOf, picked: sides(conflict), whole: "mine" });
  const { form } = app, isWhole = conflict.kind !== "changed";
  const picked = isWhole ? new Map([["", form.whole]]) : form.picked;
  const choose = (side, name) => {
    if (name) form.picked.set(name, side);
    else { form.whole = side; for (const one of form.picked.keys()) form.picked.set(one, side); }
    app.redraw();
  };
  const all = (side) => [...picked.values()].every((one) => one === side);
  const { words, body } = decision(conflict, picked), title = titleOf(conflict);
  const canTake = conflict.kind !== "unknown";
  return h("section", { class: "panel", "aria-labelledby": "conflict-title" },
    h("h2", { id: "conflict-title" }, h("a", { href: app.to("record", conflict.soupName, conflict.entryId) }, title), " ", tag("conflict", kindWords[conflict.kind])),
    h("p", { class: "quiet" }, `${conflict.soupName} ${conflict.entryId}, found ${ago(conflict.detectedAt)}${syncOf(conflict, app)}.`),
    h("div", { class: "chips", role: "group", "aria-label": "The whole record" },
      h("button", { type: "button", id: "all-mine", "aria-pressed": String(all("mine")), onclick: () => choose("mine") }, conflict.kind === "deletedHere" ? "Delete it there" : "Keep mine"),
      h("button", { type: "button", id: "all-theirs", disabled: !canTake, "aria-pressed": String(all("theirs")), onclick: () => choose("theirs") }, conflict.kind === "deletedThere" ? "Let it go" : conflict.kind === "deletedHere" ? "Keep the record" : "Take theirs")),
    columns(conflict, picked, isWhole ? null : choose),
    outcome(conflict, picked, all),
    command(app.line("conflicts", "resolve", conflict.soupName, String(conflict.entryId), ...words.map((word) => word))),
    app.canWrite
      ? h("div", { class: "buttons" }, h("button", { type: "button", id: "resolve", class: "go", onclick: () => app.doing(resolve(conflict, tagOf, body, all("mine"), app)) }, "Resolve …"))
      : h("p", { class: "quiet" }, "This page only looks. Copy the command, or start the inspector with --write."));
}

const titleOf = (conflict) => {
  const record = conflict.local ?? {};
  return record.Name || [record.FirstName, record.LastName].filter(Boolean).join(" ") || record.name || record.title || record.subject || `${conflict.soupName} ${conflict.entryId}`;
};

function syncOf(conflict, app) {
  const sync = app.store.syncs.find((one) => one._soupEntryId === conflict.syncId);
  return sync?.name ? ` by ${sync.name}` : "";
}

async function resolve(conflict, tagOf, body, isMine, app) {
  const title = titleOf(conflict);
  const goesOn = await ask(`Resolve the conflict of ${title}?`,
    isMine ? "The next sync up sends the local version, over the server's." : body.fields ? `The server's value replaces what was typed here in ${Object.keys(body.fields).join(", ")}.` : "The server's version is kept, and all local changes of the record are lost.",
    "Resolve", !isMine);
  if (!goesOn) return;
  await post(of(app.store.key, "conflicts", conflict.soupName, conflict.entryId, "resolve"), body, { "If-Match": tagOf });
  app.say(`The conflict of ${title} is resolved.`);
  app.go("conflicts");
}

function outcome(conflict, picked, all) {
  const ours = [...picked].filter(([, side]) => side === "mine").map(([name]) => name);
  const text = {
    deletedThere: all("mine") ? "The next sync up creates the record again." : "The entry leaves the soup, and the local change with it.",
    deletedHere: all("mine") ? "The next sync up deletes the record on the server." : "The record stays as the server has it.",
    unknown: "The next sync up sends the local version.",
  }[conflict.kind] ?? (ours.length ? `The entry keeps ${ours.join(" and ")}, and the next sync up sends ${ours.length === 1 ? "it" : "them"}.` : "The entry becomes the server's version; nothing is sent.");
  return h("p", { class: "result" }, h("b", null, "Result: "), text);
}

/** Fields in conflict first, then those that one side changed. */
export function fieldsOf(conflict) {
  return [...new Set([...conflict.fields, ...conflict.localChanges, ...conflict.remoteChanges])];
}

function columns(conflict, picked, choose) {
  const names = fieldsOf(conflict);
  if (names.length === 0) return null;
  const one = (record, name) => record === null || record === undefined ? undefined : record[name];
  return h("div", { class: "scroll", role: "region", "aria-label": "The three versions", tabindex: "0" }, h("table", { class: "three" },
    h("caption", { class: "hidden" }, "The three versions, field by field"),
    h("thead", null, h("tr", null, ["Field", "Before", "Here", "Server"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", null, names.map((name) => {
      const both = conflict.fields.includes(name), base = one(conflict.base, name);
      const side = (which, record, changed, said) => {
        const text = conflict.kind === "deletedThere" && which === "theirs" ? h("i", null, "deleted") : record === null ? h("i", null, "not known") : changed ? marked(base, one(record, name)) : value(one(record, name));
        const id = `${which}-${name}`, isChosen = picked.get(name) === which;
        if (!choose || !conflict.localChanges.includes(name) || record === null) return h("td", { "data-title": said, class: changed ? null : "same" }, text);
        return h("td", { "data-title": said, class: isChosen ? "chosen" : "choice" }, h("label", { for: id }, h("input", { type: "radio", id, name: `side-${name}`, checked: isChosen, onchange: () => choose(which, name) }), h("span", null, text)));
      };
      return h("tr", { class: both ? "both" : null },
        h("th", { scope: "row" }, name, both && h("span", { class: "hidden" }, ", changed on both sides")),
        h("td", { "data-title": "Before", class: "same" }, value(base)),
        side("mine", conflict.local, conflict.localChanges.includes(name), "Here"),
        side("theirs", conflict.server, conflict.remoteChanges.includes(name), "Server"));
    }))));
}
