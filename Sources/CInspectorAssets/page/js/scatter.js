// Requests over time, the longer the higher.
import { s, picture } from "./dom.js";
import { chart, scale, timeAxis, title } from "./chart.js";
import { duration, stamp } from "./format.js";
import { isBad, outcome } from "./waterfall.js";
import { key, legend } from "./parts.js";

const shapes = ["dot", "box", "triangle"];

/** Servers in the order of their first request, each with a shape. */
const shapesOf = (requests) => new Map([...new Set(requests.map((request) => request.server ?? ""))].map((name, i) => [name, shapes[i % 3]]));

function mark(request, shape, x, y) {
  if (isBad(request)) return s("path", { class: "bad-line", d: `M${x - 4} ${y - 4}l8 8m0-8l-8 8` });
  if (shape === "box") return s("rect", { class: "up see-through", x: x - 3.5, y: y - 3.5, width: 7, height: 7 });
  if (shape === "triangle") return s("path", { class: "ok see-through", d: `M${x} ${y - 5}l5 9h-10z` });
  return s("circle", { class: "down see-through", cx: x, cy: y, r: 4 });
}

export function scatter(requests, { now = Date.now(), link } = {}) {
  const known = shapesOf(requests), first = Math.min(now - 60000, ...requests.map((request) => request.at));
  const slowest = Math.max(1000, ...requests.map((request) => request.ms ?? 0)), decades = Math.ceil(Math.log10(slowest));
  return chart((width) => {
    const left = 58, top = 10, bottom = 230, from = first - (now - first) * 0.03, x = scale(from, now, left, width - 10);
    const y = (ms) => bottom - Math.log10(Math.max(1, ms)) / decades * (bottom - top);
    return picture({ width, height: bottom + 24, viewBox: `0 0 ${width} ${bottom + 24}`, role: "group", label: "Requests over time by their duration" },
      timeAxis(from, now, x, top, bottom, width),
      Array.from({ length: decades + 1 }, (_, i) => 10 ** i).map((ms) => [
        s("line", { class: "grid", x1: left, x2: width - 10, y1: y(ms), y2: y(ms) }),
        s("text", { class: "quiet", x: left - 8, y: y(ms) + 4, "text-anchor": "end" }, duration(ms))]),
      requests.map((request) => {
        const said = `${stamp(request.at)} ${request.method} ${request.path}: ${outcome(request)}, ${duration(request.ms ?? 0)}`;
        const shape = mark(request, known.get(request.server ?? ""), x(request.at), y(request.ms ?? 1));
        return link ? s("a", { href: link(request), "aria-label": said, tabindex: "-1" }, title(said), shape) : s("g", null, title(said), shape);
      }));
  });
}

export const scatterLegend = (requests) => legend(
  ...[...shapesOf(requests)].map(([name, shape]) => [key(shape, { dot: "down", box: "up", triangle: "ok" }[shape]), name || "server"]),
  [key("cross", "bad-line"), "refused, or no answer"], [null, "Upwards: how long it took, logarithmic."]);
