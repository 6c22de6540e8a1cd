// The requests of a run as bars over time.
import { s, picture } from "./dom.js";
import { chart, scale, title } from "./chart.js";
import { bytes, count, cut, duration, number } from "./format.js";

export const isBad = (request) => request.kind === "request" && (request.error !== null && request.error !== undefined || request.status === null || request.status >= 400);
const shortPath = (path) => path.replace(/^\/services\/data\/v[\d.]+\//, "…/");

/** The status of a request as people read it. */
export const outcome = (request) => request.status ?? "no answer";

function label(event) {
  return event.kind === "request" ? `${event.method} ${shortPath(event.path ?? "")}`
    : `${{ page: "page stored", upload: "results stored", ghosts: "ghosts removed", lookup: "looked up", end: "end" }[event.kind] ?? event.kind}`
      + (event.rows === null || event.rows === undefined ? "" : `: ${count(event.rows, "row")}`);
}

function told(event) {
  if (event.kind !== "request") return label(event);
  const size = event.bytes ? `, ${bytes(event.bytes)}` : "", again = event.attempt > 1 ? `, attempt ${event.attempt}` : "";
  return `${event.method} ${event.path}: ${outcome(event)}, ${duration(event.ms ?? 0)}${size}${again}${event.error ? `, ${event.error}` : ""}`;
}

/** run: {startedAt, endedAt, kind, events}. At most `most` events are drawn. */
export function waterfall(run, most = 120) {
  const events = run.events.filter((event) => event.kind !== "end").slice(0, most);
  return chart((width) => {
    const narrow = width < 620, left = narrow ? 116 : 290, row = 23, top = 24, right = width - 64;
    const from = Math.min(run.startedAt, ...events.map((event) => event.at));
    const to = Math.max(run.endedAt ?? 0, from + 1, ...events.map((event) => event.at + (event.ms ?? 0)));
    const x = scale(from, to, left, right), height = top + events.length * row + 6;
    return picture({ width, height, viewBox: `0 0 ${width} ${height}`, role: "group", label: `What the run did over ${duration(to - from)}` },
      [0, 0.25, 0.5, 0.75, 1].filter((part) => !narrow || part % 0.5 === 0).map((part) => {
        const at = left + part * (right - left);
        return [s("line", { class: "grid", x1: at, x2: at, y1: top - 4, y2: height }),
          s("text", { class: "quiet", x: at, y: 14, "text-anchor": "middle" }, duration(part * (to - from)))];
      }),
      events.map((event, i) => {
        const y = top + i * row, start = x(event.at), bad = isBad(event), said = told(event);
        if (event.kind !== "request") {
          return s("g", { role: "img", "aria-label": said }, title(said),
            s("text", { class: "quiet", x: left - 10, y: y + 15, "text-anchor": "end" }, cut(label(event), narrow ? 15 : 40)),
            s("path", { class: "accent", d: `M${start} ${y + 4}l6 7-6 7-6-7z` }));
        }
        const end = Math.max(start + 3, x(event.at + (event.ms ?? 0)));
        return s("g", { role: "img", "aria-label": said }, title(said),
          s("text", { class: bad ? "bad-text" : "small", x: left - 10, y: y + 15, "text-anchor": "end" }, cut(narrow ? `${event.method} ${shortPath(event.path ?? "").split("/").at(-1)}` : label(event), narrow ? 15 : 44)),
          s("rect", { class: bad ? "bad" : run.kind === "syncUp" ? "up" : "down", x: start, y: y + 5, width: end - start, height: 13, rx: 2.5 }),
          s("text", { class: bad ? "bad-text" : "quiet", x: Math.min(end + 6, width - 60), y: y + 15 }, event.status === null ? "no answer" : number(event.status)));
      }));
  });
}
