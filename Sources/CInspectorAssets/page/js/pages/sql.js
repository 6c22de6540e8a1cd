// A console for smart SQL: the rows, how the store finds them, and which index would help.
import { h, s, show, picture } from "../dom.js";
import { count, cut, duration, number, value } from "../format.js";
import { command, table } from "../parts.js";
import { ApiError, of, post } from "../api.js";

/** What each console last asked and got, by store and soup, so that news from the server leaves it as it is. */
const asked = new Map();

const start = (soup) => (soup ? `SELECT {${soup}:_soupEntryId}, {${soup}:_soup}\nFROM {${soup}}\nLIMIT 10` : "");

const read = (text) => {
  try {
    const read = JSON.parse(text);
    return typeof read === "object" && read !== null ? text : read;
  } catch {
    return text;
  }
};

export function console(app, soup) {
  const key = `${app.store.key}/${soup}`;
  if (!asked.has(key)) asked.set(key, { sql: start(soup), args: "" });
  const state = asked.get(key), out = h("div", { "aria-live": "polite" });
  const sql = h("textarea", { id: `sql-${soup}`, rows: 4, spellcheck: "false", autocapitalize: "off", "aria-label": "Smart SQL" });
  const args = h("input", { type: "text", id: `args-${soup}`, placeholder: "values for ?, one a comma", "aria-label": "Values for the placeholders" });
  sql.value = state.sql;
  args.value = state.args;
  const values = () => state.args.split(",").map((one) => one.trim()).filter(Boolean).map(read);
  sql.addEventListener("input", () => { state.sql = sql.value; });
  args.addEventListener("input", () => { state.args = args.value; });
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); }
  });
  async function run() {
    state.busy = true;
    draw();
    try {
      state.answer = await post(of(app.store.key, "query"), { sql: state.sql, args: values(), limit: 200 });
      state.error = null;
    } catch (error) {
      state.error = error instanceof ApiError ? error.message : String(error.message ?? error);
      state.answer = null;
    }
    state.busy = false;
    draw();
  }
  function draw() {
    show(out,
      state.busy && h("p", { class: "quiet" }, "Running …"),
      !state.busy && state.error && h("p", { class: "problem", role: "alert" }, state.error),
      !state.busy && state.answer && results(state, app, values()));
  }
  draw();
  return h("form", { class: "console", onsubmit: (event) => { event.preventDefault(); run(); } },
    sql, h("div", { class: "chips" }, args, h("button", { type: "submit", id: `run-${soup}` }, "Run"), h("span", { class: "quiet" }, "Reads only, at most 5 seconds. Ctrl+Enter runs it.")), out);
}

function results(state, app, args) {
  const { columns, rows, total, ms, plan } = state.answer;
  const last = columns.length - 1, numbers = rows.map((row) => row[last]).filter((v) => typeof v === "number");
  const most = rows.length > 1 && columns.length > 1 && numbers.length === rows.length ? Math.max(...numbers) : 0;
  const cell = (i) => (row) => i === last && most > 0 ? h("span", { class: "bar" }, bar(row[i] / most), number(row[i])) : cut(value(row[i]), 120);
  return [
    command(app.line("query", "--table", state.sql.replace(/\s*\n\s*/g, " "), ...args.map(String))),
    h("div", { class: "two" },
      h("section", { class: "panel" }, h("h3", null, count(total, "row"), h("small", null, `${duration(ms)}${rows.length < total ? `, the first ${rows.length}` : ""}`)),
        table("Rows", columns.map((title, i) => ({ title, number: i === last && most > 0, cell: cell(i) })), rows, { empty: "No rows." })),
      h("section", { class: "panel" }, h("h3", null, "How it is read"),
        h("ol", { class: "plan" }, plan.steps.map((step) => h("li", { class: step.parent ? "inner" : null }, step.text))),
        advice(plan))),
  ];
}

/** Names the indexes that would help. */
export function advice(plan) {
  if (plan.scans.length === 0) return h("p", { class: "quiet" }, "It reads only the entries that it needs.");
  return plan.scans.map((scan) => h("div", { class: "hint" },
    h("p", null, `It reads every entry of ${scan.soupName}. `, scan.paths.length
      ? ["An index on ", scan.paths.map((path, i) => [i ? ", " : "", h("b", null, path)]), " might spare that; add to the soup's indexes:"]
      : "Nothing in the statement limits them, or the index does not fit."),
    scan.paths.map((path) => h("code", null, `{"path": ${JSON.stringify(path)}, "type": "string"}`))));
}

const bar = (share) => picture({ viewBox: "0 0 60 10", width: 60, height: 10 }, s("rect", { class: "accent", x: 60 - Math.max(2, share * 60), y: 1, width: Math.max(2, share * 60), height: 8, rx: 2 }));
