// Records of all soups that contain a text.
import { h } from "../dom.js";
import { count, cut, value } from "../format.js";
import { command, table, tag } from "../parts.js";
import { of, post } from "../api.js";

const EACH = 20;
const nameOf = (record) => record.Name || [record.FirstName, record.LastName].filter(Boolean).join(" ") || record.name || record.title || record.subject || null;
const statement = (soup) => `SELECT {${soup}:_soupEntryId}, {${soup}:_soup} FROM {${soup}} WHERE {${soup}:_soup} LIKE ? LIMIT ${EACH}`;

export default {
  name: "Find",

  async load(app, [text = ""]) {
    if (!text.trim()) return { found: [] };
    const parts = await Promise.all(app.store.soups.map(async ({ soup }) => {
      const page = await post(of(app.store.key, "query"), { sql: statement(soup), args: [`%${text}%`], limit: EACH });
      return page.rows.map(([id, record]) => ({ soup, id, record }));
    }));
    return { found: parts.flat() };
  },

  render({ found }, app, [text = ""]) {
    const excerpt = (record) => {
      const hit = Object.entries(record).find(([key, v]) => !key.startsWith("_") && value(v).toLowerCase().includes(text.toLowerCase()));
      return hit ? `${hit[0]}: ${cut(value(hit[1]), 60)}` : "";
    };
    return [
      h("h1", null, `Records with “${cut(text, 40)}”`),
      h("p", { class: "lead" }, found.length ? `${count(found.length, "record")}; at most ${EACH} of each soup.` : "No record of this store contains the text."),
      app.store.soups.length > 0 && command(app.line("query", "--table", statement(app.store.soups[0].soup), `%${text}%`)),
      h("div", { class: "panel" }, table("Records", [
        { title: "Record", cell: (one) => h("a", { href: app.to("record", one.soup, one.id) }, nameOf(one.record) ?? `${one.soup} ${one.id}`) },
        { title: "Entry", cell: (one) => h("span", { class: "mono" }, `${one.soup} ${one.id}`) },
        { title: "State", cell: (one) => (one.record.__local__ ? tag("waiting", "unsent") : tag("clean")) },
        { title: "Where", cell: (one) => excerpt(one.record) },
      ], found, { empty: "Nothing was found." })),
    ];
  },
};
