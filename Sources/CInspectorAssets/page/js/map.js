// The map: servers, the syncs between, and the soups, with how fresh and how dirty each is.
import { s, picture } from "./dom.js";
import { chart, title } from "./chart.js";
import { ago, count, cut, number } from "./format.js";
import { key, legend } from "./parts.js";
import { needsLook, soupsOf } from "./syncs.js";

const states = ["conflict", "refused", "inDoubt", "skipped", "held", "waiting"];
const counts = { conflict: "conflicts", refused: "refused", inDoubt: "inDoubt", skipped: "skipped", held: "held", waiting: "waiting" };
const words = { conflict: ["conflict", "conflicts"], refused: ["refused"], inDoubt: ["in doubt"], skipped: ["skipped"], held: ["being sent"], waiting: ["waiting"] };
const kinds = { rest: "JSON collection", parse: "Parse server" };

export const stateCount = (soup, state) => soup[counts[state]] ?? 0;

/** The server of a sync. */
function server(sync, overview) {
  const connection = sync.connection ?? sync.target?.connection;
  if (sync.target?.type === "rest" || sync.target?.type === "parse") {
    return { name: connection ?? "default", kind: kinds[sync.target.type] };
  }
  return { name: overview.org, kind: overview.isSandbox && overview.org === "sandbox" ? "sandbox org" : "Salesforce org", isOrg: true };
}

/** Servers with their soups, and the syncs of each soup. A soup without a server comes last. */
function groups(store, overview) {
  const found = new Map();
  for (const soup of store.soups) {
    const syncs = store.syncs.filter((sync) => soupsOf(sync).has(soup.soup) && (sync.name || sync.startTime > 0));
    const at = syncs.length ? server(syncs[0], overview) : { name: "on this machine", kind: "no sync" };
    if (!found.has(at.name)) found.set(at.name, { ...at, soups: [] });
    found.get(at.name).soups.push({ ...soup, syncs: syncs.sort((a, b) => a.type.localeCompare(b.type)) });
  }
  return [...found.values()].sort((a, b) => Number(b.isOrg ?? false) - Number(a.isOrg ?? false));
}

/** What a person reads beside a sync's arrow. */
export function freshness(sync) {
  if (!sync.startTime) return { text: "never ran", state: "quiet" };
  if (sync.status === "RUNNING") return { text: `running, ${sync.progress} %`, state: "running" };
  if (sync.status === "FAILED") return { text: `failed ${ago(sync.endTime)}`, state: "bad" };
  if (sync.status === "ABANDONED") return { text: `ended in the middle ${ago(sync.startTime)}`, state: "bad" };
  if (sync.status === "STOPPED") return { text: `stopped ${ago(sync.endTime)}`, state: "old" };
  const at = sync.lastSuccess ?? sync.endTime;
  if (needsLook(sync)) return { text: `${ago(at)}, look`, state: "old" };
  return { text: ago(at), state: Date.now() - at > 86400000 ? "old" : "quiet" };
}

const unsentWords = (soup) => states.filter((state) => stateCount(soup, state) > 0)
  .map((state) => { const n = stateCount(soup, state), [one, many = one] = words[state]; return `${number(n)} ${n === 1 ? one : many}`; });

function bar(soup, x, y, width) {
  const clean = Math.max(0, soup.entries - soup.dirty), shown = states.filter((state) => stateCount(soup, state) > 0);
  // What is not sent is enlarged: one entry of a million must be seen.
  const most = width * 0.6, total = shown.reduce((sum, state) => sum + Math.sqrt(stateCount(soup, state)), 0);
  let right = x + width;
  const parts = shown.toReversed().map((state) => {
    const part = Math.max(6, clean ? most * Math.sqrt(stateCount(soup, state)) / Math.max(total, Math.sqrt(clean) / 3) : width * stateCount(soup, state) / soup.dirty);
    right -= part;
    return s("rect", { class: state, x: right + 1.5, y, width: Math.max(3, part - 1.5), height: 9, rx: 2 });
  });
  return [soup.entries > 0 && right > x + 2 && s("rect", { class: "clean", x, y, width: right - x, height: 9, rx: 2 }), parts];
}

function box(x, y, width, height, children) {
  return s("g", null, s("rect", { class: "box", x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 9 }), children);
}

function arrow(sync, y, from, to, link) {
  const isDown = sync.type === "syncDown", { text, state } = freshness(sync), name = sync.name ?? `sync ${sync._soupEntryId}`;
  const records = (sync.stored ?? 0) + (sync.succeeded ?? 0), thick = 1.5 + Math.min(4, Math.log10(1 + records) * 1.2);
  const failed = state === "bad", middle = (from + to) / 2, half = Math.max(52, Math.min(name.length * 4 + 14, (to - from) / 2 - 14), Math.min(text.length * 3.4 + 20, (to - from) / 2 - 14));
  const tip = isDown ? `M${to} ${y}l-11-6v12z` : `M${from} ${y}l11-6v12z`;
  const said = `${name}, ${isDown ? "fetches" : "sends"}: ${text}`;
  return s("a", { href: link(sync), "aria-label": said }, title(said),
    s("line", { class: `${failed ? "bad-line dashed" : isDown ? "down-line" : "up-line"} ${state === "running" ? "running" : ""}`, x1: from + 8, x2: to - 8, y1: y, y2: y, "stroke-width": thick }),
    s("path", { class: failed ? "bad" : isDown ? "down" : "up", d: tip }),
    s("rect", { class: "box label", x: middle - half, y: y - 17, width: 2 * half, height: 34, rx: 8 }),
    s("text", { class: "strong", x: middle, y: y - 3, "text-anchor": "middle" }, cut(name, Math.max(10, Math.floor(half / 3.7)))),
    s("text", { class: state === "bad" ? "bad-text" : state === "old" ? "warn-text" : "quiet", x: middle, y: y + 12, "text-anchor": "middle" }, `${isDown ? "▼" : "▲"} ${cut(text, Math.max(12, Math.floor((half - 16) / 3.2)))}`));
}

function soupBox(soup, x, y, width, height, link) {
  const known = unsentWords(soup), hasUp = soup.syncs.some((sync) => sync.type === "syncUp");
  const note = known.join(" · ") || (hasUp ? "all sent" : soup.syncs.length ? "no sync sends it" : "no sync");
  const said = `${soup.soup}, ${count(soup.entries, "entry", "entries")}: ${note}`;
  return s("a", { href: link(soup), "aria-label": said }, title(said), box(x, y, width, height, [
    s("text", { class: "strong", x: x + 14, y: y + 23 }, cut(soup.soup, 16)),
    s("text", { class: "quiet", x: x + width - 14, y: y + 23, "text-anchor": "end" }, number(soup.entries)),
    bar(soup, x + 14, y + 34, width - 28),
    s("text", { class: known.length ? "small" : "quiet", x: x + 14, y: y + 60 }, cut(note, Math.floor((width - 24) / 6))),
  ]));
}

function wide(store, overview, width, links) {
  const left = 150, right = Math.min(250, width * 0.27), gap = 12, parts = [];
  let y = 2;
  for (const group of groups(store, overview)) {
    const top = y;
    for (const soup of group.soups) {
      const height = Math.max(74, soup.syncs.length * 42 - 4);
      soup.syncs.forEach((sync, i) => {
        const at = y + height / 2 + (i - (soup.syncs.length - 1) / 2) * 40;
        parts.push(arrow(sync, at, left + 4, width - right - 4, links.sync));
      });
      parts.push(soupBox(soup, width - right, y, right, height, links.soup));
      y += height + gap;
    }
    const height = y - gap - top, usage = group.isOrg ? overview.apiUsage : null;
    parts.push(box(0, top, left, height, [
      s("rect", { class: "accent", x: 0, y: top + 10, width: 4, height: Math.max(8, height - 20), rx: 2 }),
      s("text", { class: "strong", x: 16, y: top + 24 }, cut(group.name, 17)), s("text", { class: "quiet", x: 16, y: top + 42 }, group.kind),
      usage && height > 90 && [
        s("rect", { class: "track", x: 16, y: top + 56, width: left - 34, height: 5, rx: 2 }),
        s("rect", { class: "accent", x: 16, y: top + 56, width: Math.max(3, (left - 34) * Math.min(1, usage.used / usage.max)), height: 5, rx: 2 }),
        s("text", { class: "quiet", x: 16, y: top + 78 }, `${number(usage.used)} of ${number(usage.max)}`),
        s("text", { class: "quiet", x: 16, y: top + 94 }, "API calls a day"),
      ],
    ]));
    y += 12;
  }
  return picture({ width, height: y, viewBox: `0 0 ${width} ${y}`, role: "group", label: "Servers, syncs and soups" }, parts);
}

/** On narrow screens the syncs stand below each soup. */
function narrow(store, overview, width, links) {
  const parts = [];
  let y = 0;
  for (const group of groups(store, overview)) {
    parts.push(s("text", { class: "strong", x: 2, y: y + 16 }, cut(group.name, 24)), s("text", { class: "quiet", x: width - 2, y: y + 16, "text-anchor": "end" }, group.kind));
    y += 26;
    for (const soup of group.soups) {
      parts.push(soupBox(soup, 0, y, width, 74, links.soup));
      y += 82;
      for (const sync of soup.syncs) {
        const { text, state } = freshness(sync), isDown = sync.type === "syncDown", name = sync.name ?? `sync ${sync._soupEntryId}`;
        parts.push(s("a", { href: links.sync(sync), "aria-label": `${name}: ${text}` },
          s("rect", { class: "reach", x: 0, y: y - 2, width, height: 24 }),
          s("text", { class: isDown ? "down" : "up", x: 12, y: y + 14 }, isDown ? "▼" : "▲"),
          s("text", { class: "small", x: 30, y: y + 14 }, cut(name, 20)),
          s("text", { class: state === "bad" ? "bad-text" : state === "old" ? "warn-text" : "quiet", x: width - 4, y: y + 14, "text-anchor": "end" }, cut(text, 24))));
        y += 24;
      }
      y += 12;
    }
    y += 6;
  }
  return picture({ width, height: y, viewBox: `0 0 ${width} ${y}`, role: "group", label: "Servers, syncs and soups" }, parts);
}

/** links: {sync(sync), soup(soup)}: addresses. */
export const map = (store, overview, links) =>
  chart((width) => (width < 620 ? narrow : wide)(store, overview, width, links));

export const mapLegend = (store) => legend(
  [key("box", "clean"), "as on the server"],
  ...states.filter((state) => store.soups.some((soup) => stateCount(soup, state) > 0)).map((state) => [key("box", state), words[state][0]]),
  [null, "▼ fetches, ▲ sends; dashed: the last run failed. What is not sent is enlarged."]);
