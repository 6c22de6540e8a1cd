// Numbers, times and values as people read them.

const grouped = new Intl.NumberFormat("en-US");
export const number = (n) => grouped.format(n);
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

export function bytes(n) {
  if (n < 1000) return `${n} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let size = n, unit = -1;
  while (size >= 999.5 && unit < units.length - 1) { size /= 1000; unit += 1; }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** `35 min ago`, as the commands say it. */
export function ago(at, now = Date.now()) {
  const minutes = Math.max(0, Math.floor((now - at) / 60000));
  if (minutes < 1) return "just now";
  if (minutes < 120) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const second = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const onDay = (at) => day.format(at);
export const clock = (at) => time.format(at);
export const stamp = (at) => `${onDay(at)} ${clock(at)}`;
export const exactClock = (at) => second.format(at);
export const exactStamp = (at) => `${onDay(at)} ${second.format(at)}`;

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 3600000 ? `${Math.round(ms / 60000)} min` : `${Math.round(ms / 3600000)} h`;
}

/** A value of a record. */
export function value(v) {
  if (v === undefined) return "—";
  if (v === null) return "null";
  if (v === "") return "(empty)";
  return typeof v === "object" && !(v instanceof Exact) ? JSON.stringify(v) : String(v);
}

export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** A number whose digits JavaScript would not keep. */
export class Exact {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
  toJSON() { return JSON.rawJSON ? JSON.rawJSON(this.text) : this.text; }
}

/** Reads JSON, and keeps the digits of every number. */
export const parsed = (text) => JSON.parse(text, (key, v, context) =>
  typeof v === "number" && context?.source !== undefined && String(v) !== context.source ? new Exact(context.source) : v);

/** Quotes a word for a shell, where it needs it. */
export const quoted = (word) => (/^[A-Za-z0-9\-_./:@%+=,]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

export const stateWords = {
  waiting: "waiting", skipped: "skipped", held: "being sent", conflict: "conflict", refused: "refused", inDoubt: "in doubt",
  clean: "as on the server", removed: "removed", unknown: "not recorded",
};
export const kindWords = {
  changed: "changed on both sides", deletedHere: "deleted here, changed there", deletedThere: "deleted there, changed here",
  unknown: "server's version not known",
};

/** What people call an actor: `edits.lua`, `tureen sync`. */
export function actor(by) {
  if (!by) return "";
  if (by.kind === "cli") return `tureen ${by.name ?? ""}`;
  if (["exec", "repl", "import"].includes(by.kind)) return `tureen ${by.kind}`;
  if (by.kind === "inspector") return "tureen inspect";
  return by.name ?? (by.kind === "job" ? "a worker" : by.kind);
}

/** What a sync moved, from its state or the counts of a run. */
export function moved(c, isUp) {
  const words = isUp
    ? [["succeeded", "sent"], ["failed", "refused"], ["conflicting", "in conflict"], ["inDoubt", "in doubt"], ["merged", "merged"]]
    : [["stored", "stored"], ["removed", "removed"], ["merged", "merged"], ["conflicting", "in conflict"], ["flagged", "unusable"]];
  const skipped = isUp ? Math.max(0, (c.skipped ?? 0) - (c.conflicting ?? 0)) : 0;
  const parts = words.filter(([key]) => c[key] > 0).map(([key, word]) => `${number(c[key])} ${word}`);
  if (skipped) parts.push(`${number(skipped)} skipped`);
  return parts.join(", ") || (isUp ? "nothing to send" : "nothing new");
}

/** Why a sync failed: its error may be text, or the server's JSON. */
export function failure(error) {
  if (!error) return "no reason is known";
  if (typeof error === "object") return error.message ?? JSON.stringify(error);
  try {
    const read = JSON.parse(error), first = Array.isArray(read) ? read[0] : read;
    return first?.message ?? first?.error ?? error;
  } catch {
    return error;
  }
}
