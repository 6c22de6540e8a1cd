# The table of bench-parse. Reads lines `kind size phase cpu wall rss`.

{
  key = $1 " " $2 " " $3
  keep(key " cpu", $4); keep(key " wall", $5); keep(key " rss", $6)
}

function line(key) {
  printf "%-18s %9.3f %9.3f %10.1f\n", key, median(key " cpu"), median(key " wall"), median(key " rss")
}

END {
  printf "\n%d records, median of %d; CPU is user and kernel of the whole process\n\n", records, rounds
  printf "%-18s %9s %9s %10s\n", "target, page, load", "CPU s", "wall s", "peak MB"
  line("soql 2000 first"); line("parse 500 first"); line("parse 500 again")
  r = ratio(median("parse 500 first cpu"), median("soql 2000 first cpu"))
  printf "\nCPU: %.2f of the soql target's           at most 1.25: %s\n", r, r <= 1.25 ? "PASS" : "FAIL"
}
