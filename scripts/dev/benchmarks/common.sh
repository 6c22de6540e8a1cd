# Shared by bench and bench-sync: the work folder, the C programs, the page server, the account. Both source it after they set
# `tool`, its own name in messages; `root`; `sources`, this folder; `tureen`, the release binary.

work=$(mktemp -d "${TMPDIR:-/tmp}/tureen-$tool.XXXXXX")
children=()
cleanup() {
  [ ${#children[@]} = 0 ] || kill "${children[@]}" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "$tool: $*" >&2; exit 1; }

# end_child PROCESS: asks a child to end, waits for it, and returns its exit status.
end_child() {
  local child others=()
  for child in "${children[@]}"; do [ "$child" = "$1" ] || others+=("$child"); done
  children=("${others[@]}")
  kill "$1"
  wait "$1"
}

# compile PROGRAM FLAGS...: builds a C program of this folder.
compile() { gcc -std=c11 -O2 -Wall -Wextra -D_GNU_SOURCE "$sources/$1.c" -o "$work/$1" "${@:2}"; }

# compile_library NAME FLAGS...: the same, as a library.
compile_library() {
  gcc -std=c11 -O2 -Wall -Wextra -D_GNU_SOURCE -shared -fPIC -I/usr/include/lua5.4 "$sources/$1.c" -o "$work/$1.so" "${@:2}"
}

# The release binary, unless the caller named one.
build_tureen() {
  [ -n "${TUREEN:-}" ] || { swift build -c release --product tureen && swift build -c release --product tureen-worker; } >"$work/build.log" 2>&1 ||
    { tail -40 "$work/build.log" >&2; fail "the release build failed"; }
}

# await_file FILE WHAT: waits until the file is not empty.
await_file() {
  for _ in $(seq 200); do [ ! -s "$1" ] || return 0; sleep 0.05; done
  fail "$2 does not start"
}

# start_pages DELAY DIRECTORY...: serves folders of pages at $url; the first one until use_pages selects another.
start_pages() {
  "$work/serve" --delay "$1" "${@:2}" >"$work/port" &
  children+=($!)
  await_file "$work/port" "the page server"
  url=http://127.0.0.1:$(cat "$work/port")
}

# tell_server PATH: sends a command and prints the answer.
tell_server() { curl -fsS "$url/bench/$1"; }

use_pages() { tell_server "use/$1" >"$work/switched"; }

announced() { sed -n "s/^ *$1  *//p" "$work/announced"; }

# start_sandbox: starts a sandbox org of 10,000 contacts in its own process, at $url, with its account; $sandbox is the process.
start_sandbox() {
  "$tureen" sandbox --home "$work/sandbox" --contacts 10000 --accounts 500 >"$work/announced" 2>"$work/err" &
  sandbox=$!
  children+=("$sandbox")
  await_file "$work/announced" "the sandbox org"
  until grep -q '^Ctrl-C' "$work/announced"; do sleep 0.05; done
  url=$(sed -n 's/^Sandbox org at //p' "$work/announced")
  export TUREEN_CLIENT_ID TUREEN_CLIENT_SECRET TUREEN_USERNAME TUREEN_PASSWORD
  TUREEN_CLIENT_ID=$(announced 'client id') TUREEN_CLIENT_SECRET=$(announced 'client secret')
  TUREEN_USERNAME=$(announced username) TUREEN_PASSWORD=$(announced password)
}

export LUA_CPATH="$work/?.so;;" LUA_PATH="$sources/?.lua;;"
export TUREEN_CLIENT_ID=benchmark TUREEN_CLIENT_SECRET=benchmark TUREEN_USERNAME=bench@example.com TUREEN_PASSWORD=benchmark
unset TUREEN_HOME TUREEN_ORG TUREEN_CREDENTIALS
