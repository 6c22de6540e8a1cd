// Soups and the entries of one.
import { h } from "../dom.js";
import { count, cut, number, value } from "../format.js";
import { command, table, tag } from "../parts.js";
import { post, of } from "../api.js";
import { stateCount } from "../map.js";
import { soupsOf } from "../syncs.js";
import { console } from "./sql.js";

const PAGE = 25;
const states = ["inDoubt", "refused", "conflict", "skipped", "held", "waiting"];
const plain = /^[A-Za-z_][A-Za-z0-9_]*$/;

const name = (sync) => sync.name ?? `sync ${sync._soupEntryId}`;
const ofSoup = (app, soup) => app.store.syncs.filter((sync) => soupsOf(sync).has(soup) && (sync.name || sync.startTime > 0));
const links = (app, syncs) => syncs.flatMap((sync, i) => [i ? ", " : null, h("a", { href: app.to("runs", "of", name(sync)) }, name(sync))]);

function list(app) {
  return [
    h("h1", null, "Soups"),
    h("p", { class: "lead" }, `What ${app.store.storeName} holds, and where it comes from.`),
    command(app.line("soups")),
    h("div", { class: "panel" }, table("Soups", [
      { title: "Soup", cell: (soup) => h("a", { href: app.to("soups", soup.soup) }, soup.soup) },
      { title: "Entries", number: true, cell: (soup) => number(soup.entries) },
      { title: "Unsent", number: true, cell: (soup) => (soup.dirty ? h("a", { href: app.to("unsent") }, number(soup.dirty)) : "0") },
      { title: "Indexes", cell: (soup) => soup.indexes.map((index) => index.path).join(", ") || "none" },
      { title: "Synced by", cell: (soup) => links(app, ofSoup(app, soup.soup)) },
    ], app.store.soups, { empty: "The store has no soups yet." })),
    h("h2", null, "Ask with smart SQL"), console(app, app.store.soups[0]?.soup),
  ];
}

/** The paths that a table of entries shows: the indexes, then members of the first entries. */
function paths(soup, sample) {
  const indexed = soup.indexes.map((index) => index.path).filter((path) => !path.startsWith("__"));
  const members = Object.entries(sample ?? {}).filter(([key, v]) => (typeof v !== "object" || v === null) && !key.startsWith("_") && plain.test(key)).map(([key]) => key);
  return [...new Set([...indexed, ...members])].slice(0, 6);
}

const statement = (soup, columns, filter) =>
  `SELECT ${[`{${soup}:_soupEntryId}`, ...columns.map((path) => `{${soup}:${path}}`)].join(", ")} FROM {${soup}}${filter ? ` WHERE ${filter}` : ""} ORDER BY {${soup}:_soupEntryId} LIMIT ${PAGE}`;

export default {
  name: "Soups",

  async load(app, [soup]) {
    if (!soup) return {};
    const found = app.store.soups.find((one) => one.soup === soup);
    if (!found) return { missing: soup };
    const ask = (sql, args = []) => post(of(app.store.key, "query"), { sql, args, limit: PAGE });
    const sample = (await ask(`SELECT {${soup}:_soup} FROM {${soup}} LIMIT 1`)).rows[0]?.[0];
    const columns = paths(found, sample), { search, after = [] } = app.form;
    const filters = [search && `{${soup}:_soup} LIKE ?`, after.length && `{${soup}:_soupEntryId} > ?`].filter(Boolean).join(" AND ");
    const args = [...(search ? [`%${search}%`] : []), ...(after.length ? [after.at(-1)] : [])];
    const sql = statement(soup, columns, filters);
    return { found, columns, sql, args, page: await ask(sql, args) };
  },

  render({ found, missing, columns, sql, args, page }, app, [soup]) {
    if (!soup) return list(app);
    if (missing) return [h("h1", null, missing), h("p", { class: "panel" }, "The store has no such soup. ", h("a", { href: app.to("soups") }, "All soups"))];
    const { form } = app, syncs = ofSoup(app, soup), last = page.rows.at(-1)?.[0];
    const search = h("input", { type: "search", id: "search", value: form.search ?? "", placeholder: "Search all fields", "aria-label": `Search ${soup}` });
    const look = (event) => { event.preventDefault(); form.search = search.value; form.after = []; app.refresh(); };
    return [
      h("h1", null, soup, h("small", null, count(found.entries, "entry", "entries"))),
      h("p", { class: "lead" }, syncs.length ? ["Synced by ", links(app, syncs), syncs.some((sync) => sync.type === "syncUp") ? "." : "; no sync sends its changes."] : "No sync fills or sends it."),
      command(app.line("query", "--table", sql, ...args.map(String))),
      h("form", { class: "chips", role: "search", onsubmit: look }, search, h("button", { type: "submit" }, "Search"),
        states.filter((state) => stateCount(found, state) > 0).map((state) => h("a", { href: app.to("unsent", state) }, tag(state), ` ${number(stateCount(found, state))}`))),
      h("div", { class: "panel" }, table(`Entries of ${soup}`, [
        { title: "Entry", number: true, cell: (row) => h("a", { href: app.to("record", soup, row[0]) }, String(row[0])) },
        ...columns.map((path, i) => ({ title: path, wide: i > 2, cell: (row) => cut(value(row[i + 1]), 34) })),
      ], page.rows, { empty: form.search ? "No entry has that text." : "The soup is empty." }),
      h("div", { class: "buttons" },
        form.after?.length > 0 && h("button", { type: "button", id: "back", onclick: () => { form.after = form.after.slice(0, -1); app.refresh(); } }, "Back"),
        page.rows.length === PAGE && h("button", { type: "button", id: "next", onclick: () => { form.after = [...(form.after ?? []), last]; app.refresh(); } }, "Next"))),
      h("h2", null, "Indexes"),
      h("div", { class: "panel" }, table("Indexes", [{ title: "Path", cell: (index) => index.path }, { title: "Type", cell: (index) => index.type }], found.indexes, { empty: "The soup has no indexes." })),
      h("h2", null, "Ask with smart SQL"), console(app, soup),
    ];
  },
};

