# The table of bench-rest. Reads lines `kind size phase cpu wall rss`.

function verdict(value, limit) { return value <= limit ? "PASS" : "FAIL" }

{
  key = $1 " " $2 " " $3
  keep(key " cpu", $4); keep(key " wall", $5); keep(key " rss", $6)
}

function line(key) {
  printf "%-24s %9.3f %9.3f %10.1f\n", key, median(key " cpu"), median(key " wall"), median(key " rss")
}

END {
  printf "\n%d records, median of %d; CPU is user and kernel of the whole process\n\n", records, rounds
  printf "%-24s %9s %9s %10s\n", "target, page, load", "CPU s", "wall s", "peak MB"
  for (i = 1; i <= 2; i++) {
    size = i == 1 ? 100 : 2000
    line("soql " size " first"); line("rest " size " first"); line("rest " size " again")
    line("rest " size " requests")
  }
  line("collection 10000 upload"); line("rest-1 10000 upload"); line("rest-8 10000 upload")
  print ""
  for (i = 1; i <= 2; i++) {
    size = i == 1 ? 100 : 2000
    r = ratio(median("rest " size " first cpu"), median("soql " size " first cpu"))
    printf "CPU, pages of %d: %.2f of the soql target's           at most 1.15: %s\n", size, r, verdict(r, 1.15)
    r = ratio(median("rest " size " first rss"), median("soql " size " first rss"))
    printf "memory, pages of %d: %.2f of the soql target's        at most 1.15: %s\n", size, r, verdict(r, 1.15)
  }
  r = ratio(median("rest-8 10000 upload cpu"), median("collection 10000 upload cpu"))
  printf "CPU, upload of 10000 edits: %.2f of the collection target's   at most 2.00: %s\n", r, verdict(r, 2)
  # What a run costs that has hardly any page to ask for.
  pages = records / 100 - records / 2000
  extra = median("rest 100 again cpu") - median("rest 2000 again cpu")
  printf "nothing changed: %.3f s more for %d more answers of 304\n", extra, pages
  work = median("rest 100 again cpu") - median("rest 100 requests cpu")
  printf "nothing changed: %.3f s more than a script that sends these %d requests   under 0.1: %s\n", work, records / 100, \
    verdict(work, 0.1)
}
