"""The part of `bench --postgres` that starts a server and the workers, each a process with a store of its own.

usage: postgres.py ENGINE WORK RECORDS ROUNDS. ENGINE is EngineBench, WORK a folder.
"""

import itertools
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True

from chaos import cluster  # noqa: E402

PHASES = ("first", "again")
# The target for one worker, and how many times that for two.
RECORDS_A_SECOND, TIMES = 40_000, 2.0
names = (f"store{number}" for number in itertools.count(1))


class Loader:
    """A process that loads records into a new store."""

    def __init__(self, engine, place, records, indexes):
        self.process = subprocess.Popen(
            [engine, "load", place, next(names), str(records), indexes], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("bench: a load has failed")
        return line.split()

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()


def load(engine, places, records, indexes):
    """Loads all places at once; returns the records a second of each phase, all together."""
    loaders = [Loader(engine, place, records, indexes) for place in places]
    rates = {}
    for phase in PHASES:
        for loader in loaders:
            assert loader.line() == ["ready"]
        for loader in loaders:
            loader.go()
        rates[phase] = len(places) * records / max(float(loader.line()[1]) for loader in loaders)
    for loader in loaders:
        loader.process.wait()
    return rates


def server(work):
    """A server with the settings that Debian gives it, but for the port."""
    server = cluster.Server(work + "/postgres")
    server.create()
    with open(server.data + "/postgresql.conf", "a", encoding="utf-8") as settings:
        settings.write("fsync = on\nwal_writer_delay = 200ms\nshared_buffers = 128MB\n")
    server.start()
    return server


def report(figures):
    print(f"{'records a second':<58}{'first load':>12}{'all edited':>12}")
    for name, rounds in figures.items():
        print(f"{name:<58}" + "".join(f"{statistics.median(one[phase] for one in rounds):>12,.0f}" for phase in PHASES))


def judge(figures, one, two):
    rate = statistics.median(round["first"] for round in figures[one])
    times = statistics.median(b["first"] / a["first"] for a, b in zip(figures[one], figures[two]))
    print(f"one worker: {rate:,.0f} records/s in the first load, at least {RECORDS_A_SECOND:,} "
          f"({'met' if rate >= RECORDS_A_SECOND else 'MISSED'})")
    print(f"two workers, two stores: {times:.2f} times that, at least {TIMES:.1f} ({'met' if times >= TIMES else 'MISSED'})")


def main():
    engine, work, records, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.chmod(work, 0o755)
    postgres = server(work)
    address = f"postgres://tureen@127.0.0.1:{postgres.port}/postgres?sslmode=disable"
    figures = {}
    try:
        for number in range(rounds):
            for indexes in ("kept", "last"):
                figures.setdefault(f"SQLite, indexes {indexes}", []).append(
                    load(engine, [f"{work}/{indexes}{number}.sqlite"], records, indexes))
                for workers in (1, 2, 4):
                    name = f"PostgreSQL, indexes {indexes}, {workers} worker{'s' if workers > 1 else ''}"
                    figures.setdefault(name, []).append(load(engine, [address] * workers, records, indexes))
    finally:
        postgres.stop()
    report(figures)
    judge(figures, "PostgreSQL, indexes last, 1 worker", "PostgreSQL, indexes last, 2 workers")


main()
