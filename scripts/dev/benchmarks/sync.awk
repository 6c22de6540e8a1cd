# The table of bench-sync. Reads lines `name value`; of a name that comes several times the median counts.

# One row: what was measured, how it is shown, and what it must be.
function row(what, shown, target, holds) { printf "%-58s %-36s %s: %s\n", what, shown, target, holds ? "PASS" : "FAIL" }

function percentiles(name) {
  return sprintf("p99 %.2f, median %.2f, longest %.1f ms", median(name "_p99"), median(name "_median"), largest(name "_longest"))
}

function times(what, name) {
  row(what " (" median(name "_count") ")", percentiles(name), "p99 under 5 ms", median(name "_p99") < 5)
}

# What the history adds, beside the same work without one.
function history(what, name, unit, most,    off, all, more) {
  off = median(name "_off"); all = median(name "_all"); more = (ratio(all, off) - 1) * 100
  row(what, sprintf("%.2f %s, without %.2f: %+.1f %%", all, unit, off, more), "at most +" most " %", more <= most)
}

{ keep($1, $2) }

END {
  printf "\n%d contacts in pages of 2,000, median of %d; CPU is user and kernel of the whole process\n\n", records, rounds
  r = ratio(median("delayed_ours"), median("delayed_fetch"))
  row("100 ms a page: wall beside fetching alone", sprintf("%.2f s / %.2f s = %.3f", median("delayed_ours"), median("delayed_fetch"), r), \
    "at most 1.10", r <= 1.1)
  r = ratio(median("together_4"), median("together_1"))
  row("300 ms a page, 10 pages: four syncs at once beside one", sprintf("%.2f s / %.2f s = %.2f", median("together_4"), median("together_1"), r), \
    "at most 1.30", r <= 1.3)
  row("nothing changed: requests beside sign-in", sprintf("%d (sign-ins: %d)", median("unchanged_requests"), median("unchanged_sign_ins")), \
    "1", median("unchanged_requests") == 1)
  row("nothing changed: CPU", sprintf("%.3f s", median("unchanged_cpu")), "under 0.05 s", median("unchanged_cpu") < 0.05)
  times("look-ups by Id during the first load", "first")
  times("look-ups by Id while every record is edited", "again")
  times("commit to observer", "observed")
  times("commit of a page to the sync's callback", "synced")
  row("upload of " median("upload_succeeded") " records: requests", sprintf("%d", median("upload_requests")), "50", \
    median("upload_requests") == 50 && median("upload_succeeded") == 10000)
  printf "%-58s %.0f records/s, CPU %.2f s\n", "upload: speed against the sandbox org", \
    ratio(median("upload_succeeded"), median("upload_seconds")), median("upload_cpu")
  kept["upload_cpu_all", 1] = median("upload_cpu"); counts["upload_cpu_all"] = 1
  history("history: 10,000 edits, 500 a call", "history_many", "ms", 5)
  history("history: 2,000 edits, one a call", "history_single", "ms", 20)
  history("history: first load, CPU", "history_load", "s", 2)
  history("history: every record edited, CPU", "history_edited", "s", 5)
  history("history: upload of 10,000 records, CPU", "upload_cpu", "s", 2)
  more = median("history_nothing_all") - median("history_nothing_off")
  row("history: a sync of nothing", sprintf("%.3f ms more", more), "at most 0.15 ms", more <= 0.15)
}
