// A lane for each sync: a mark for each run, as high as the records that it moved.
import { s, picture } from "./dom.js";
import { chart, scale, timeAxis, title } from "./chart.js";
import { failure, moved, stamp, cut } from "./format.js";
import { key, legend } from "./parts.js";
import { needsLook } from "./syncs.js";

const isUp = (run) => run.kind === "syncUp" || run.kind === "up";

/** The last run of each sync, in the form of the history's runs, for a home without history. */
export const lastRuns = (syncs) => syncs.filter((sync) => sync.startTime > 0).map((sync) => ({
  run: null, syncId: sync._soupEntryId, name: sync.name, kind: sync.type, status: sync.status, startedAt: sync.startTime,
  endedAt: sync.endTime > 0 ? sync.endTime : null, counts: sync, error: sync.error || null,
  look: sync.status === "DONE" && needsLook(sync),
}));

export const result = (run) => run.status === "FAILED" ? failure(run.error)
  : run.status === "RUNNING" ? "running" : run.counts ? moved(run.counts, isUp(run)) : run.status.toLowerCase();

function mark(run, x, bottom, row, link) {
  const records = (run.counts?.stored ?? 0) + (run.counts?.succeeded ?? 0) + (run.counts?.removed ?? 0);
  const height = records > 0 ? 5 + Math.min(1, Math.log10(1 + records) / 4) * (row - 14) : 3;
  const failed = run.status === "FAILED" || run.status === "ABANDONED", at = x(run.startedAt);
  const said = `${run.run ? `Run ${run.run} of ` : ""}${run.name ?? `sync ${run.syncId}`}, ${stamp(run.startedAt)}: ${result(run)}`;
  const parts = [
    title(said),
    s("rect", { class: "reach", x: at - 7, y: bottom - row + 1, width: 14, height: row - 1 }),
    s("rect", { class: `mark ${failed ? "bad" : isUp(run) ? "up" : "down"}${records || failed ? "" : " faint"}`, x: at - 2.5, y: bottom - height, width: 5, height, rx: 1.5 }),
    failed && s("path", { class: "bad-line", d: `M${at - 4} ${bottom - row + 6}l8 8m0-8l-8 8` }),
    !failed && run.look && s("circle", { class: "conflict", cx: at, cy: bottom - height - 5, r: 3 }),
  ].filter(Boolean);
  return link ? s("a", { href: link(run), "aria-label": said }, parts) : s("g", { role: "img", "aria-label": said }, parts);
}

/**
 * syncs: names in the order of the lanes. link(run): an address, or nothing.
 */
export function lanes(names, runs, { link, chosen, row = 30, now = Date.now() } = {}) {
  const first = Math.min(now - 60000, ...runs.map((run) => run.startedAt)), from = first - (now - first) * 0.03;
  return chart((width) => {
    const narrow = width < 560, left = narrow ? 106 : 130, top = 4, bottom = top + names.length * row, x = scale(from, now, left, width - 10);
    return picture({ width, height: bottom + 24, viewBox: `0 0 ${width} ${bottom + 24}`, role: "group", label: "Runs of each sync over time" },
      timeAxis(from, now, x, top, bottom, width),
      names.map((name, i) => {
        const floor = top + (i + 1) * row - 1;
        return s("g", null,
          s("line", { class: "grid", x1: left, x2: width - 10, y1: floor + 0.5, y2: floor + 0.5 }),
          s("text", { x: left - 10, y: floor - row / 2 + 5, "text-anchor": "end" }, cut(name, narrow ? 13 : 17)),
          runs.filter((run) => (run.name ?? `sync ${run.syncId}`) === name).map((run) => [
            mark(run, x, floor, row, link),
            run.run !== null && run.run === chosen && s("path", { class: "accent", d: `M${x(run.startedAt) - 6} ${floor + 8}l6-8 6 8z` }),
          ]));
      }),
      s("line", { class: "now", x1: x(now), x2: x(now), y1: top, y2: bottom }));
  });
}

export const lanesLegend = () => legend(
  [key("bar", "down"), "fetched"], [key("bar", "up"), "sent"], [key("dot", "conflict"), "left refusals or conflicts"],
  [key("cross", "bad-line"), "failed"], [null, "Height: records, logarithmic."]);
