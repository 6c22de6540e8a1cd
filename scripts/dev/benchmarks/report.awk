# The benchmark's table. Reads lines `program phase cpu wall rss hold`; the files named by `shares` and `reads` hold
# `program phase inside total` and `phase reads median longest hold`.

function verdict(value, limit) { return value <= limit ? "PASS" : "FAIL" }

function line(who, phase,    key, share) {
  key = who " " phase
  share = key in share_of ? sprintf("%3.0f %%", share_of[key] * 100) : "    -"
  printf "%-7s %-6s %12.0f %9.3f %9.3f %10.1f %13s\n", who, phase, records / median(key " wall"), median(key " cpu"), \
    median(key " wall"), median(key " rss"), share
}

{
  key = $1 " " $2
  keep(key " cpu", $3); keep(key " wall", $4); keep(key " rss", $5)
  if ($6 != "-") keep("hold", $6)
  if ($1 == "ours") has_ours = 1
  if ($2 == "random") has_random = 1
}

END {
  while ((getline row < shares) > 0) { split(row, f, " "); if (f[4] > 0) share_of[f[1] " " f[2]] = f[3] / f[4] }
  while ((getline row < reads) > 0) {
    split(row, f, " ")
    read_median[f[1]] = f[3]; read_longest[f[1]] = f[4]; read_count[f[1]] = f[2]
    keep("hold", f[5])
  }
  printf "\n%d records, median of %d; CPU is user and kernel of the whole process\n\n", records, rounds
  printf "%-7s %-6s %12s %9s %9s %10s %13s\n", "", "load", "records/s", "CPU s", "wall s", "peak MB", "inside SQLite"
  line("bare", "first"); line("bare", "gzip"); line("bare", "again")
  if (has_random) { line("bare", "random"); line("replace", "random") }
  if (!has_ours) exit
  line("ours", "first"); line("ours", "gzip"); line("ours", "again")
  if (has_random) line("ours", "random")
  print ""
  for (i = 1; i <= 2; i++) {
    phase = i == 1 ? "first" : "again"
    r = ratio(median("ours " phase " cpu"), median("bare " phase " cpu"))
    printf "CPU, %s load: %.2f of the C program's      at most 1.50: %s; target 1.25: %s\n", phase, r, \
      verdict(r, 1.5), verdict(r, 1.25)
  }
  printf "CPU, first load, gzip: %.2f of the C program's; decompressing costs %.3f s, there %.3f s\n", \
    ratio(median("ours gzip cpu"), median("bare gzip cpu")), median("ours gzip cpu") - median("ours first cpu"), \
    median("bare gzip cpu") - median("bare first cpu")
  if (has_random) {
    printf "CPU, random edits: %.2f of the C program's", ratio(median("ours random cpu"), median("bare random cpu"))
    r = ratio(median("ours random cpu"), median("replace random cpu"))
    printf "; %.2f of C with INSERT OR REPLACE      at most 0.50: %s\n", r, verdict(r, 0.5)
  }
  rss = largest("ours first rss")
  if (largest("ours again rss") > rss) rss = largest("ours again rss")
  if (largest("ours gzip rss") > rss) rss = largest("ours gzip rss")
  most = records <= 100000 ? 64 : 150
  printf "peak memory: %.0f MB                           at most %d: %s\n", rss, most, verdict(rss, most)
  printf "a loop that polls every 10 ms was held up at most %.1f ms      at most 50: %s\n", largest("hold"), \
    verdict(largest("hold"), 50)
  for (i = 1; i <= 2; i++) {
    phase = i == 1 ? "first" : "again"
    if (!(phase in read_count)) continue
    printf "another process, %s load: %d reads, median %.3f ms, longest %.1f ms      at most 50: %s\n", phase, \
      read_count[phase], read_median[phase], read_longest[phase], verdict(read_longest[phase], 50)
  }
}
