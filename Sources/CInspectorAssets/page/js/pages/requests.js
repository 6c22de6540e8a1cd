// Requests over time.
import { h } from "../dom.js";
import { bytes, count, cut, duration, number, stamp } from "../format.js";
import { command, panel, table } from "../parts.js";
import { scatter, scatterLegend } from "../scatter.js";
import { isBad, outcome } from "../waterfall.js";
import { get, of, withQuery } from "../api.js";

const LISTED = 50;

export default {
  name: "Requests",

  async load(app, [what]) {
    return { found: await get(withQuery(of(app.store.key, "requests"), { limit: 1000, failed: what === "failed" ? "true" : null })) };
  },

  render({ found }, app, [what]) {
    const list = found?.requests ?? [], bad = list.filter(isBad).length;
    const shown = (what === "failed" ? list.filter(isBad) : list).toReversed().slice(0, LISTED);
    const usage = app.overview.apiUsage;
    return [
      h("h1", null, "Requests"),
      h("p", { class: "lead" }, list.length ? [h("b", null, count(list.length, "request")), ` since ${stamp(list[0].at)}`, bad > 0 && [", ", h("b", null, `${number(bad)} without success`)], ". Paths are kept, queries and bodies are not."] : "What the runs asked the servers.", usage && ` ${number(usage.used)} of ${number(usage.max)} API calls are used in 24 hours.`),
      command(app.line("runs", "--requests")),
      list.length === 0 ? app.noHistory(found?.history === "off" ? "History is off for this store." : "No requests are recorded yet.")
        : [
          panel(scatter(list, { link: (request) => app.to("runs", request.run) }), scatterLegend(list)),
          h("nav", { class: "chips", "aria-label": "Which requests" }, h("a", { href: app.to("requests"), "aria-current": what ? null : "true" }, `All ${number(list.length)}`), h("a", { href: app.to("requests", "failed"), "aria-current": what ? "true" : null }, `Without success ${number(bad)}`)),
          h("h2", null, "Latest first"),
          h("div", { class: "panel" }, table("Requests", [
            { title: "When", tight: true, cell: (request) => stamp(request.at) }, { title: "Server", wide: true, tight: true, cell: (request) => request.server ?? "" },
            { title: "Request", cell: (request) => h("span", { class: "mono" }, `${request.method} ${cut(request.path ?? "", 60)}`) },
            { title: "Answer", tight: true, cell: (request) => h("span", { class: isBad(request) ? "text refused" : null }, String(outcome(request))) },
            { title: "Took", number: true, cell: (request) => duration(request.ms ?? 0) }, { title: "Received", number: true, wide: true, cell: (request) => (request.bytes ? bytes(request.bytes) : "") },
            { title: "Run", number: true, cell: (request) => h("a", { href: app.to("runs", request.run) }, String(request.run)) },
          ], shown)),
        ],
    ];
  },
};
