// Charts as wide as their place, and the axis of time.
import { h, s, show } from "./dom.js";
import { clock, exactClock, onDay } from "./format.js";

/** A place that is drawn again when its width changes. */
export function chart(draw) {
  const box = h("div", { class: "chart" });
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now === 0 || now === width) return;
    width = now;
    show(box, draw(now));
  }).observe(box);
  return box;
}

export const title = (text) => s("title", null, text);

/** Positions of times between two edges. */
export const scale = (from, to, left, right) => {
  const span = Math.max(1, to - from);
  return (at) => left + (at - from) / span * (right - left);
};

const HOUR = 3600000, DAY = 24 * HOUR;

/** The marks of an axis: days for a long time, else hours, minutes or seconds. */
export function ticks(from, to, most) {
  const steps = [1000, 5000, 15000, 60000, 300000, 900000, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 30 * DAY];
  const step = steps.find((one) => (to - from) / one <= most) ?? 90 * DAY;
  const offset = new Date(from).getTimezoneOffset() * 60000;
  const found = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= to; at += step) {
    found.push({ at, text: step >= DAY || (step >= 3 * HOUR && new Date(at).getHours() === 0) ? onDay(at) : step < 60000 ? exactClock(at) : clock(at) });
  }
  return found;
}

/** Vertical lines with their times below, and nights as shades behind longer times. */
export function timeAxis(from, to, x, top, bottom, width) {
  const parts = [];
  if (to - from > DAY && to - from < 15 * DAY) {
    for (let at = new Date(from).setHours(20, 0, 0, 0) - DAY; at < to; at += DAY) {
      const a = Math.max(at, from), b = Math.min(at + 10 * HOUR, to);
      if (b > a) parts.push(s("rect", { class: "night", x: x(a), y: top, width: x(b) - x(a), height: bottom - top }));
    }
  }
  for (const { at, text } of ticks(from, to, Math.max(2, Math.floor(width / 150)))) {
    parts.push(s("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: bottom }));
    const place = x(at) > width - 40 ? "end" : x(at) < 40 ? "start" : "middle";
    parts.push(s("text", { class: "quiet", x: x(at), y: bottom + 17, "text-anchor": place }, text));
  }
  return parts;
}
