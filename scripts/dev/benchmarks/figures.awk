# What the tables of the benchmarks share: figures that come several times, kept by their name.

function keep(name, value) { kept[name, ++counts[name]] = value + 0 }

function sort_values(values, n,    i, j, moved) {
  for (i = 2; i <= n; i++) {
    moved = values[i]
    for (j = i - 1; j >= 1 && values[j] > moved; j--) values[j + 1] = values[j]
    values[j + 1] = moved
  }
}

function median(name,    values, n, i) {
  n = counts[name]
  for (i = 1; i <= n; i++) values[i] = kept[name, i]
  sort_values(values, n)
  return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

function largest(name,    i, most) {
  for (i = 1; i <= counts[name]; i++) if (kept[name, i] > most) most = kept[name, i]
  return most
}

function ratio(a, b) { return b > 0 ? a / b : 0 }
