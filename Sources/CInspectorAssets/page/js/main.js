// The frame: the rail with the pages, addresses, keys, and what happens when the store changes.
import { h, s, picture, show } from "./dom.js";
import { ApiError, Unreachable, get, signIn } from "./api.js";
import { bytes, number, quoted } from "./format.js";
import { command } from "./parts.js";
import * as live from "./live.js";
import overview, { needed } from "./pages/overview.js";
import unsent from "./pages/unsent.js";
import conflicts from "./pages/conflicts.js";
import soups from "./pages/soups.js";
import record from "./pages/record.js";
import runs from "./pages/runs.js";
import run from "./pages/run.js";
import requests from "./pages/requests.js";
import health from "./pages/health.js";
import find from "./pages/find.js";

const pages = { overview, unsent, conflicts, soups, record, runs, requests, health, find };
const sections = [["overview", "o"], ["unsent", "u"], ["conflicts", "c"], ["soups", "s"], ["runs", "r"], ["requests", "q"], ["health", "h"]];
const content = document.getElementById("content"), rail = document.getElementById("rail"), news = document.getElementById("news");

/** What pages get. `form` is what a person has typed or chosen on the page; it stays while news come in. */
const app = {
  overview: null, store: null, canWrite: false, options: [], form: {}, address: "", data: null, connected: null,

  to(page, ...parts) {
    const store = this.store && this.store.key !== this.stores[0].key ? `?store=${encodeURIComponent(this.store.key)}` : "";
    return `#/${[page, ...parts].map((part) => encodeURIComponent(String(part))).join("/")}${store}`;
  },
  go(page, ...parts) { location.hash = this.to(page, ...parts); },

  /** A command line, with the options that the inspector was started with. */
  line(...words) { return this.withOptions(["tureen", ...words.map(quoted)].join(" "), this.storeOptions); },
  withOptions(line, more = []) { return [line, ...more.map(quoted), ...this.options].join(" "); },
  get storeOptions() {
    const { storeName, isGlobalStore } = this.store ?? {};
    return [...(storeName && storeName !== "defaultStore" ? ["--store-name", storeName] : []), ...(isGlobalStore ? ["--global-store"] : [])];
  },
  get stores() {
    return this.overview.stores.map((store) => ({ ...store, key: `${store.isGlobalStore ? "g" : "u"}:${store.storeName}` }));
  },

  noHistory(text = "No runs are recorded, so that only the last run of each sync is known.") {
    return h("p", { class: "empty note" }, text);
  },

  say(text) { show(news, text); },
  refresh() { return draw(true); },
  redraw() { render(); },

  /** Runs what a person has asked for, and says why it failed. */
  async doing(promise) {
    try {
      await promise;
    } catch (error) {
      app.say(error.message);
      content.prepend(h("p", { class: "problem", role: "alert" }, error.message));
    }
  },
};

// MARK: The page

function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [name = "overview", ...parts] = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { name: name in pages ? name : "overview", parts, store: new URLSearchParams(query).get("store") };
}

const pageOf = ({ name, parts }) => (name === "runs" && /^\d+$/.test(parts[0] ?? "") ? run : pages[name]);

let drawing = 0, lastTook = 0;

/** Reads what the page shows. News that change nothing leave it as it is. */
async function draw(isSame, isNews = false) {
  const number = ++drawing, began = performance.now(), { name, parts, store } = route();
  try {
    app.overview = await get("overview");
    app.store = app.stores.find((one) => one.key === store) ?? app.stores[0] ?? null;
    const page = pageOf({ name, parts });
    // What is costly is read again when a person asks for it.
    const data = !app.store ? null : isNews && page.isCostly && app.dataOf === location.hash ? app.data : await page.load(app, parts);
    if (number !== drawing) return;
    lastTook = performance.now() - began;
    const text = JSON.stringify([app.overview, data]);
    if (isSame && text === app.text && app.dataOf === location.hash && !app.hasProblem) return;
    Object.assign(app, { text, data, dataOf: location.hash, hasProblem: false });
    render();
  } catch (error) {
    if (number !== drawing) return;
    problem(error);
  }
}

/** Draws what was read, and keeps the focus and the places of lists. */
function render() {
  const { name, parts } = route(), page = pageOf({ name, parts });
  const focus = whereFocusIs(), scrolled = [...content.querySelectorAll("[id]")].filter((node) => node.scrollTop > 0).map((node) => [node.id, node.scrollTop]);
  show(content, app.store ? page.render(app.data, app, parts) : empty());
  content.dataset.shows = location.hash;
  const chosen = content.querySelector(".list [aria-current]"), list = chosen?.closest(".list");
  if (list && app.form.listed !== location.hash) {
    app.form.listed = location.hash;
    list.scrollTop = chosen.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
  for (const [id, top] of scrolled) { const node = document.getElementById(id); if (node) node.scrollTop = top; }
  drawRail(page);
  document.title = `${content.querySelector("h1")?.firstChild?.textContent ?? page.name} · Tureen inspector`;
  focus?.();
}

/** Returns a function that puts the focus where it is now. */
function whereFocusIs() {
  const node = document.activeElement;
  if (!node || !content.contains(node) || node === content) return null;
  const all = (root) => [...root.querySelectorAll("a, button, input, textarea, select, [tabindex]")];
  const place = node.id || node.getAttribute("href"), index = all(content).indexOf(node), selection = "selectionStart" in node ? [node.selectionStart, node.selectionEnd] : null;
  return () => {
    const found = (node.id && document.getElementById(node.id)) || (place && all(content).find((one) => one.getAttribute("href") === place)) || all(content)[index] || content.querySelector("h1") || content;
    if (found.tagName === "H1") found.tabIndex = -1;
    found.focus({ preventScroll: true });
    if (selection && selection[0] !== null && "setSelectionRange" in found) { try { found.setSelectionRange(...selection); } catch { /* not a text */ } }
  };
}

const empty = () => [h("h1", null, "Overview"), h("p", { class: "lead" }, "The home has no stores yet. Run a script or a sync first."), command(app.withOptions("tureen sync --all"))];

function problem(error) {
  app.hasProblem = true;
  const isOver = error instanceof Unreachable, isToken = error.status === 401 || error.status === 429;
  show(content, h("h1", null, isOver ? "The inspector has ended" : isToken ? "The address is not complete" : "This cannot be shown"),
    h("p", { class: "problem", role: "alert" }, isToken ? "Open the whole address that tureen inspect has printed: the part after # is the key to the data." : error.message),
    isOver || isToken ? command("tureen inspect") : h("p", null, h("button", { type: "button", onclick: () => draw() }, "Try again"), " ", h("a", { href: "#/overview" }, "Overview")));
  if (app.overview && app.store) drawRail(null);
}

// MARK: The rail

const logo = () => picture({ viewBox: "0 0 32 32", width: 28, height: 28 },
  s("path", { class: "accent", d: "M2 15h28c-1 8-6 12-14 12S3 23 2 15z" }), s("path", { class: "waiting", d: "M6 12.5c1-5 5-7 10-7s9 2 10 7z" }), s("circle", { class: "accent", cx: 16, cy: 4, r: 2 }));

function counts(name) {
  const { store } = app;
  if (name === "unsent") { const n = store.soups.reduce((sum, soup) => sum + soup.dirty, 0); return n > 0 && [n, needed(store) ? "refused" : "waiting"]; }
  if (name === "conflicts") { const n = store.soups.reduce((sum, soup) => sum + soup.conflicts, 0); return n > 0 && [n, "conflict"]; }
  return name === "soups" && [store.soups.length, "plain"];
}

// One for all pages, so that a text that a person is typing stays.
const search = h("input", { type: "search", id: "find", placeholder: "Find a record", "aria-label": "Find a record in all soups", "aria-keyshortcuts": "/" });

function drawRail(page) {
  const { name } = route(), current = page?.section ?? name, { overview } = app;
  const hadFocus = document.activeElement === search;
  show(rail,
    h("a", { class: "brand", href: app.to("overview") }, logo(), "tureen"),
    h("p", { class: "where" }, h("span", { title: overview.home }, overview.home), h("span", null, [overview.user, overview.org].filter(Boolean).join(" at "))),
    app.stores.length > 1 && h("label", { class: "store" }, h("span", null, "Store"), h("select", { id: "store", onchange: (event) => { location.hash = `#/overview?store=${encodeURIComponent(event.target.value)}`; } },
      app.stores.map((store) => h("option", { value: store.key, selected: store.key === app.store.key }, store.isGlobalStore ? `${store.storeName} (global)` : store.storeName)))),
    h("form", { role: "search", onsubmit: (event) => { event.preventDefault(); if (search.value.trim()) app.go("find", search.value.trim()); } }, search),
    h("nav", { "aria-label": "Pages" }, sections.map(([key, letter]) => {
      const found = counts(key);
      return h("a", { href: app.to(key), "aria-current": key === current ? "page" : null, "aria-keyshortcuts": `g ${letter}` }, pages[key].name, found && h("span", { class: `count ${found[1]}` }, number(found[0])));
    })),
    h("div", { class: "foot" },
      h("p", { id: "connection", class: app.connected === false ? "text refused" : null }, app.connected === false ? "Not connected; trying again" : app.connected ? "Live" : ""),
      h("p", null, app.canWrite ? "May change data, after a question." : "Looks only; changes nothing."),
      h("p", null, `${{ sqlite: "SQLite", postgres: "PostgreSQL" }[app.store.engine] ?? app.store.engine}, ${bytes(app.store.bytes)}`),
      h("div", { class: "buttons" }, h("button", { type: "button", class: "small", onclick: theme }, "Light or dark"), h("button", { type: "button", class: "small", onclick: help, "aria-keyshortcuts": "?" }, "Keys"))));
  if (hadFocus) search.focus();
  const nav = rail.querySelector("nav"), active = nav.querySelector("[aria-current]");
  if (active && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = active.offsetLeft - nav.offsetLeft - (nav.clientWidth - active.clientWidth) / 2;
}

function theme() {
  const root = document.documentElement, isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

function help() {
  const keys = [["/", "find a record"], ...sections.map(([key, letter]) => [`g ${letter}`, pages[key].name]), ["j, k", "next, previous in lists"], ["Enter", "open"], ["Esc", "leave a field; close"], ["?", "these keys"]];
  const dialog = h("dialog", { "aria-labelledby": "keys-title" }, h("h2", { id: "keys-title" }, "Keys"),
    h("dl", { class: "keys" }, keys.map(([key, text]) => h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, text)))),
    h("div", { class: "buttons" }, h("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close")));
  const before = document.activeElement;
  dialog.addEventListener("close", () => { dialog.remove(); before?.focus(); });
  document.body.append(dialog);
  dialog.showModal();
}

// MARK: Keys

let isGoing = false;

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const node = document.activeElement, isTyping = node?.matches("input:not([type=radio]), textarea, select");
  if (event.key === "Escape" && isTyping) return node.blur();
  if (isTyping) return;
  if (isGoing) {
    isGoing = false;
    const found = sections.find(([, letter]) => letter === event.key);
    if (found && app.store) { event.preventDefault(); app.go(found[0]); }
    return;
  }
  if (event.key === "g") isGoing = true;
  else if (event.key === "?") help();
  else if (event.key === "/") { event.preventDefault(); document.getElementById("find")?.focus(); }
  else if (event.key === "j" || event.key === "k") {
    const links = [...content.querySelectorAll(".list a, tbody th a, .cards a")], at = links.indexOf(node);
    links[at < 0 ? 0 : at + (event.key === "j" ? 1 : -1)]?.focus();
  }
});

// MARK: News

let pending = null;

/** Reads again soon: once for many changes, and not more often than reading takes. */
function changed() {
  pending ??= setTimeout(() => { pending = null; if (document.visibilityState === "visible") draw(true, true); else isStale = true; }, Math.max(120, Math.min(5000, lastTook * 3)));
}

let isStale = false;
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible" && isStale) { isStale = false; draw(true, true); } });

function hear({ kind }) {
  if (kind === "connected" || kind === "disconnected") {
    const before = app.connected;
    app.connected = kind === "connected";
    const line = document.getElementById("connection");
    if (line) { show(line, app.connected ? "Live" : "Not connected; trying again"); line.className = app.connected ? "" : "text refused"; }
    if (app.connected && before === false) changed();
  } else {
    changed();
  }
}

addEventListener("hashchange", async () => {
  app.form = {};
  scrollTo(0, 0);
  await draw(false);
  const title = content.querySelector("h1");
  if (title) { title.tabIndex = -1; title.focus({ preventScroll: true }); }
});

async function begin() {
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
  if (!await signIn()) return problem(new ApiError(401, null));
  try {
    Object.assign(app, await get("about"));
  } catch (error) {
    return problem(error);
  }
  live.listen(hear);
  live.start();
  await draw(false);
  document.documentElement.dataset.ready = "yes";
}

begin();
