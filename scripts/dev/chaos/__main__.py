"""Workers, hosts, a database and an org that fail at random; in the end nothing may be lost or done twice.

Run it with scripts/dev/scenarios --postgres; --help lists the options.
"""

import argparse
import os
import random
import secrets
import shlex
import shutil
import signal
import sys
import tempfile
import time
import unittest

from . import audit, checks, cluster, events, fence, test_checks
from .org import Colleague, Org
from .workers import SOUPS, SYNCS, ByHand, Place, Worker, Writer, write_project

DRAIN_LIMIT_S = 900
# The rules that fences are for.
FENCED = ("page of a former owner", "duplicate create", "lost edit", "stale entry")
NAMES = dict(zip(events.KINDS, ("kills", "pauses", "partitions", "crashes", "promotions")))


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/dev/scenarios --postgres", description=__doc__.splitlines()[0])
    counts = ((12, "kill -9 of a host's process"), (4, "SIGSTOP for 0.2 to 3 lease times"),
              (3, "cuts between a host and the database"),
              (1, "PostgreSQL ends without warning and starts again"), (1, "PostgreSQL is lost and its standby promoted"))
    for kind, (count, text) in zip(events.KINDS, counts):
        parser.add_argument(f"--{NAMES[kind]}", dest=kind, type=int, default=count, metavar="N", help=f"{text} ({count})")
    parser.add_argument("--seed", type=int, default=None, help="a number; random without it")
    parser.add_argument("--fence", choices=("on", "off"), default="on",
                        help="off: nothing is refused for want of a lease; succeeds only if a rule is violated")
    parser.add_argument("--seconds-per-lease", type=int, default=3, metavar="N", help="the time of a lease (3)")
    parser.add_argument("--workers", type=int, default=4, metavar="N", help="hosts that run tureen worker (4)")
    parser.add_argument("--hosts", type=int, default=2, metavar="N", help="hosts that run tureen sync (2)")
    parser.add_argument("--tureen", default=".build/debug/tureen", help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help="keep the folder with the logs")
    parser.add_argument("--verbose", action="store_true", help="print each event")
    return parser.parse_args()


class Run:
    """One run of the harness."""

    def __init__(self, options, folder):
        self.options, self.folder, self.began = options, folder, time.monotonic()
        self.cluster = self.org = self.place = None
        self.workers, self.hosts, self.writer = [], [], None
        self.violations = []

    def say(self, text):
        if self.options.verbose:
            print(f"{time.monotonic() - self.began:6.1f} s  {text}", flush=True)

    def secret_file(self, name, value):
        path = f"{self.folder}/{name}"
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(value)
        return path

    def set_up(self):
        options = self.options
        self.password = secrets.token_hex(16)
        self.cluster = cluster.Cluster(self.folder, self.password)
        self.cluster.start()
        self.say("a primary and its standby run")
        # Far more calls than a run makes, so that it is never used up.
        settings = {
            "TUREEN_LEASE_SECONDS": str(options.seconds_per_lease), "TUREEN_API_BUDGET": str(self.budget), "TUREEN_LOG": "info"}
        self.place = Place(self.folder, os.path.realpath(options.tureen), self.cluster, settings,
                           self.secret_file("database.secret", self.password))
        if not self.place.machine:
            print("unshare is not permitted here, so paused processes keep their leases", file=sys.stderr)
        write_project(self.place.project)
        self.org = Org(self.place.tureen, self.folder, {**os.environ, "TZ": "UTC"}, options.seed)
        self.org.start()
        self.writer = Writer(self.place, "writer")
        self.workers = [Worker(self.place, f"worker-{n + 1}") for n in range(options.workers)]
        self.hosts = [ByHand(self.place, f"host-{n + 1}") for n in range(options.hosts)]
        self.writer.sign_in(self.org, self.secret_file("app.secret", self.org.secret))
        # A sign-in asks the org what it is, before there is a store with a budget.
        self.signed_in = len(self.org.requests())
        for host in self.workers + self.hosts:
            shutil.copytree(self.writer.home, host.home)
        if self.writer.run("sync", "--quiet", *SYNCS) != 0:
            raise RuntimeError(f"the first sync failed; see {self.writer.log}")
        if self.workers:
            for sync, seconds in zip(SYNCS, (2, 2, 3, 3)):
                self.writer.output("job", "add", "sync", sync, "--every", f"{seconds}s", *(
                    ["--args", '{"ghosts": true}'] if sync.endswith("Down") else []))
        (syncs,), = self.cluster.query("SELECT id FROM tureen_1.soup_attrs WHERE soupName = 'syncs_soup'")
        audit.install(self.cluster, syncs)
        if options.fence == "off":
            fence.switch_off(self.cluster)
            for link in self.place.links:
                link.rewrite = fence.without_fence
        self.say("the store is filled")

    @property
    def budget(self):
        return 1_000_000

    def begin(self):
        seed = self.options.seed
        self.org.add_faults()
        delays = random.Random(f"{seed}/delays")
        for host in self.workers + self.hosts:
            host.link.set_delay(delays.choice((0, 0, 0.002, 0.02)))
        for worker in self.workers:
            worker.begin()
        for host in self.hosts:
            host.begin(random.Random(f"{seed}/{host.name}"))
        self.writer.begin(seed, 40)
        self.colleague = Colleague(self.org, random.Random(f"{seed}/colleague"))

    def disturb(self):
        counts = {kind: getattr(self.options, kind) for kind in events.KINDS}
        self.events = events.Events(self.cluster, [*self.workers, *self.hosts, self.writer], counts,
                                    self.options.seconds_per_lease, self.options.seed, self.say)
        nudge = Nudge(self.cluster) if self.workers else None
        try:
            self.events.run()
        finally:
            if nudge:
                nudge.stop()

    def drain(self):
        """Ends all disturbances, lets the workers finish, and syncs until nothing is left."""
        self.say("draining")
        self.colleague.stop()
        if status := self.writer.stop():
            raise RuntimeError(f"the writer ended with {status}; see {self.writer.log}")
        self.org.clear_faults()
        for host in self.hosts:
            host.stop()
        if self.workers:
            self.drain_workers()
        self.say("the workers are done")
        end = time.monotonic() + DRAIN_LIMIT_S
        while True:
            self.writer.run("sync", "--quiet", "--ghosts", *SYNCS)
            left = self.compare()
            if not left or time.monotonic() > end:
                break
            # A create without an answer is sent again after ten minutes, when it can no longer arrive. No request is under way
            # now, so let them pass.
            self.cluster.query("UPDATE tureen_1.uploads SET resendAt = 0 WHERE operation = 'create' AND resendAt IS NOT NULL")
            time.sleep(1)
        self.violations += left

    def drain_workers(self):
        # Once more, and then not for long.
        self.cluster.query("UPDATE tureen.jobs SET every_ms = 86400000")
        nudge = Nudge(self.cluster, "error IS NOT NULL")
        try:
            self.cluster.query("UPDATE tureen.jobs SET due = clock_timestamp() WHERE state = 'ready'")
            end = time.monotonic() + DRAIN_LIMIT_S
            waiting = "SELECT count(*) FROM tureen.jobs WHERE state <> 'ready' OR due <= clock_timestamp() OR error IS NOT NULL"
            while self.cluster.query(waiting) != [["0"]]:
                if time.monotonic() > end:
                    self.violations.append(checks.Violation("jobs not done", f"after {DRAIN_LIMIT_S // 60} minutes without disturbances"))
                    break
                time.sleep(0.2)
        finally:
            nudge.stop()
        for worker in self.workers:
            if (status := worker.stop()) != 0:
                self.violations.append(checks.Violation("exit status of SIGTERM", f"{worker.name}: {status}"))

    # What is there in the end

    def compare(self):
        """The rules that hold as soon as nothing is left to do."""
        found = []
        written, uncertain = self.writer.written()
        for soup, (kind, fields) in SOUPS.items():
            rows = self.org.query(f"SELECT {', '.join(fields)} FROM {kind}")
            org = {row["Id"]: tuple(row.get(field) for field in fields[1:]) for row in rows}
            values = {row[fields[1]]: row.get(fields[3]) for row in rows}
            names = [row[fields[1]] for row in rows]
            found += checks.no_duplicates(kind, [name for name in names if name.startswith(("here-", "there-"))])
            found += checks.all_arrived(kind, written[kind], values, uncertain[kind])
            entries, dirty, waiting, conflicts = self.soup(soup, fields)
            found += checks.same(soup, entries, org)
            found += checks.nothing_left(soup, dirty, conflicts, waiting)
        return found

    def soup(self, soup, fields):
        (number,), = self.cluster.query(f"SELECT id FROM tureen_1.soup_attrs WHERE soupName = '{soup}'")
        columns = ", ".join(f"coalesce(soup::json ->> '{field}', '')" for field in fields)
        rows = self.cluster.query(f"SELECT {columns}, coalesce(soup::json ->> '__local__', '') FROM tureen_1.table_{number}")
        entries = {row[0]: tuple(value or None for value in row[1:-1]) for row in rows}
        dirty = sum(row[-1] == "true" for row in rows)
        (waiting,), = self.cluster.query(
            f"SELECT count(*) FROM tureen_1.uploads WHERE soup = {number} AND operation = 'create'")
        (conflicts,), = self.cluster.query(f"SELECT count(*) FROM tureen_1.soup_conflicts WHERE soup = {number}")
        return entries, dirty, int(waiting), int(conflicts)

    def check_ledger(self):
        jobs = {int(row[0]): (row[1], int(row[2])) for row in self.cluster.query("SELECT id, state, fence FROM tureen.jobs")}
        self.runs = [
            (int(job), int(number), owner, float(began), float(ended) if ended else None, outcome)
            for job, number, owner, began, ended, outcome in self.cluster.query(
                "SELECT job, fence, owner, extract(epoch FROM began), extract(epoch FROM ended), outcome FROM tureen.runs")]
        self.violations += checks.ledger_is_right(jobs, self.runs)
        self.states = audit.states(self.cluster)
        self.violations += checks.written_by_holders(self.states)
        self.violations += checks.fences_rise(audit.fences(self.cluster))
        told = [one for worker in self.workers for one in worker.told()]
        self.violations += checks.told_is_recorded(told, self.runs)

    def check(self):
        self.check_ledger()
        requests = self.org.requests()
        self.calls = sum(request["path"].startswith("/services/data/") for request in requests[self.signed_in:])
        (reserved,), = self.cluster.query("SELECT coalesce(sum(used), 0) FROM tureen.budgets")
        self.reserved = int(reserved)
        self.violations += checks.calls_are_reserved(self.calls, self.reserved, self.budget)
        texts = {}
        for name in os.listdir(self.folder):
            path = f"{self.folder}/{name}"
            if name.endswith((".log", ".jsonl")) or name.startswith("postgres-"):
                path += "/log" if os.path.isdir(path) else ""
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts[name] = file.read()
        self.violations += checks.no_secrets(texts, {"password of the database": self.password, **self.org.secrets})

    def summary(self):
        written, _ = self.writer.written()
        outcomes = {}
        for run in self.runs:
            outcomes[run[5]] = outcomes.get(run[5], 0) + 1
        by_hand = sum(host.runs for host in self.hosts)
        counts = {
            **{NAMES[kind]: self.events.done[kind] for kind in events.KINDS},
            "pauses longer than a lease": self.events.long_pauses,
            "records": sum(map(len, written.values())), "edits on the org": self.colleague.edits,
            "syncs by hand": by_hand, "states": len(self.states),
            **{f"runs {name}": count for name, count in sorted(outcomes.items())},
            "calls": self.calls, "reserved": self.reserved}
        print(f"seed {self.options.seed}: " + ", ".join(f"{name} {count}" for name, count in counts.items())
              + f"; {time.monotonic() - self.began:.0f} s")

    def stop(self):
        for host in [*self.workers, *self.hosts, *([self.writer] if self.writer else [])]:
            host.signal(signal.SIGKILL)
            if host.process:
                host.process.wait()
        if self.org:
            self.org.stop()
        if self.place:
            for link in self.place.links:
                link.close()
        if self.cluster:
            self.cluster.stop()


class Nudge:
    """Makes jobs that wait for another attempt due at once, as `tureen job retry` does: a run has no time for their pauses."""

    def __init__(self, database, which="attempts > 0"):
        self.database, self.which = database, which
        self.stopping = events.threading.Event()
        self.thread = events.threading.Thread(target=self.loop, daemon=True)
        self.thread.start()

    def loop(self):
        while not self.stopping.wait(1):
            try:
                self.database.query(
                    "UPDATE tureen.jobs SET due = clock_timestamp(), regular = coalesce(regular, due), attempts = 0 "
                    f"WHERE state = 'ready' AND due > clock_timestamp() AND {self.which}")
            except (RuntimeError, AttributeError):
                pass  # The server is just crashing.

    def stop(self):
        self.stopping.set()
        self.thread.join()


def command(seed):
    """How to run this again."""
    given = [word for word in sys.argv[1:] if not word.startswith("--seed=")]
    if "--seed" in given:
        del given[given.index("--seed"):given.index("--seed") + 2]
    return shlex.join(["scripts/dev/scenarios", "--postgres", *given, "--seed", str(seed)])


def main():
    options = arguments()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    if not cluster.programs():
        print("needs a PostgreSQL server; Debian: apt install postgresql", file=sys.stderr)
        return 69
    tests = unittest.TextTestRunner(stream=open(os.devnull, "w", encoding="utf-8")).run(  # pylint: disable=consider-using-with
        unittest.defaultTestLoader.loadTestsFromModule(test_checks))
    if not tests.wasSuccessful():
        print("the checks do not work: python3 -m unittest chaos.test_checks", file=sys.stderr)
        return 1
    folder = tempfile.mkdtemp(prefix="tureen-chaos-")
    os.chmod(folder, 0o711)
    run = Run(options, folder)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    keeps = True
    try:
        run.set_up()
        run.begin()
        run.disturb()
        run.drain()
        run.check()
        run.summary()
        keeps = options.keep or bool(run.violations) and options.fence == "on"
    except KeyboardInterrupt:
        keeps = options.keep
        return 130
    except RuntimeError as error:
        print(f"FAILED: {error}; again with: {command(options.seed)}")
        return 1
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        run.stop()
        if keeps:
            print(f"the logs are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    for violation in run.violations:
        print(f"VIOLATED {violation}; again with: {command(options.seed)}")
    if options.fence == "off":
        is_noticed = any(violation.rule in FENCED for violation in run.violations)
        print("without fences the checks found it, as they must" if is_noticed
              else "FAILED: the checks did not notice that fences are off")
        return 0 if is_noticed else 1
    return 1 if run.violations else 0


if __name__ == "__main__":
    sys.exit(main())
