/* The files of the inspector's page. */
#include "include/tureen_inspector_assets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char index_html[] = {
#embed "page/index.html"
};
static const char app_css[] = {
#embed "page/app.css"
};
static const char icon_svg[] = {
#embed "page/icon.svg"
};
static const char js_main_js[] = {
#embed "page/js/main.js"
};
static const char js_api_js[] = {
#embed "page/js/api.js"
};
static const char js_live_js[] = {
#embed "page/js/live.js"
};
static const char js_dom_js[] = {
#embed "page/js/dom.js"
};
static const char js_format_js[] = {
#embed "page/js/format.js"
};
static const char js_parts_js[] = {
#embed "page/js/parts.js"
};
static const char js_chart_js[] = {
#embed "page/js/chart.js"
};
static const char js_lanes_js[] = {
#embed "page/js/lanes.js"
};
static const char js_map_js[] = {
#embed "page/js/map.js"
};
static const char js_syncs_js[] = {
#embed "page/js/syncs.js"
};
static const char js_waterfall_js[] = {
#embed "page/js/waterfall.js"
};
static const char js_scatter_js[] = {
#embed "page/js/scatter.js"
};
static const char js_pages_overview_js[] = {
#embed "page/js/pages/overview.js"
};
static const char js_pages_unsent_js[] = {
#embed "page/js/pages/unsent.js"
};
static const char js_pages_conflicts_js[] = {
#embed "page/js/pages/conflicts.js"
};
static const char js_pages_soups_js[] = {
#embed "page/js/pages/soups.js"
};
static const char js_pages_sql_js[] = {
#embed "page/js/pages/sql.js"
};
static const char js_pages_record_js[] = {
#embed "page/js/pages/record.js"
};
static const char js_pages_runs_js[] = {
#embed "page/js/pages/runs.js"
};
static const char js_pages_run_js[] = {
#embed "page/js/pages/run.js"
};
static const char js_pages_requests_js[] = {
#embed "page/js/pages/requests.js"
};
static const char js_pages_health_js[] = {
#embed "page/js/pages/health.js"
};
static const char js_pages_find_js[] = {
#embed "page/js/pages/find.js"
};

static const tureen_inspector_asset assets[] = {
    {"index.html", index_html, sizeof index_html},
    {"app.css", app_css, sizeof app_css},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"js/main.js", js_main_js, sizeof js_main_js},
    {"js/api.js", js_api_js, sizeof js_api_js},
    {"js/live.js", js_live_js, sizeof js_live_js},
    {"js/dom.js", js_dom_js, sizeof js_dom_js},
    {"js/format.js", js_format_js, sizeof js_format_js},
    {"js/parts.js", js_parts_js, sizeof js_parts_js},
    {"js/chart.js", js_chart_js, sizeof js_chart_js},
    {"js/lanes.js", js_lanes_js, sizeof js_lanes_js},
    {"js/map.js", js_map_js, sizeof js_map_js},
    {"js/syncs.js", js_syncs_js, sizeof js_syncs_js},
    {"js/waterfall.js", js_waterfall_js, sizeof js_waterfall_js},
    {"js/scatter.js", js_scatter_js, sizeof js_scatter_js},
    {"js/pages/overview.js", js_pages_overview_js, sizeof js_pages_overview_js},
    {"js/pages/unsent.js", js_pages_unsent_js, sizeof js_pages_unsent_js},
    {"js/pages/conflicts.js", js_pages_conflicts_js, sizeof js_pages_conflicts_js},
    {"js/pages/soups.js", js_pages_soups_js, sizeof js_pages_soups_js},
    {"js/pages/sql.js", js_pages_sql_js, sizeof js_pages_sql_js},
    {"js/pages/record.js", js_pages_record_js, sizeof js_pages_record_js},
    {"js/pages/runs.js", js_pages_runs_js, sizeof js_pages_runs_js},
    {"js/pages/run.js", js_pages_run_js, sizeof js_pages_run_js},
    {"js/pages/requests.js", js_pages_requests_js, sizeof js_pages_requests_js},
    {"js/pages/health.js", js_pages_health_js, sizeof js_pages_health_js},
    {"js/pages/find.js", js_pages_find_js, sizeof js_pages_find_js},
    {0, 0, 0},
};

const tureen_inspector_asset *const tureen_inspector_assets = assets;
