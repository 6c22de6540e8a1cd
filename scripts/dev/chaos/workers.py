"""The hosts: workers, machines where a person runs `tureen sync`, and the program that writes records."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time

from . import proxy

SYNCS = ("contactsUp", "accountsUp", "contactsDown", "accountsDown")
# The object of each soup; its id, its name, the field that a colleague edits, and the one that the writer edits.
SOUPS = {
    "contacts": ("Contact", ("Id", "LastName", "Title", "Phone")),
    "accounts": ("Account", ("Id", "Name", "Industry", "Phone")),
}


def write_project(folder):
    """The configuration files and the script that all hosts share."""
    os.makedirs(folder)
    soups, syncs = [], []
    for soup, (kind, fields) in SOUPS.items():
        paths = [{"path": path, "type": "string"} for path in (*fields[:2], "__local__")]
        soups.append({"soupName": soup, "indexes": [*paths, {"path": "__sync_id__", "type": "integer"}]})
        merge = {"mergeMode": "MERGE"}
        up = {"createFieldlist": list(fields[1:]), "updateFieldlist": list(fields[1:])}
        syncs.append({"syncName": soup + "Down", "syncType": "syncDown", "soupName": soup, "options": merge, "target": {
            "type": "soql", "query": f"SELECT {', '.join(fields)}, LastModifiedDate FROM {kind} ORDER BY LastModifiedDate"}})
        syncs.append({"syncName": soup + "Up", "syncType": "syncUp", "soupName": soup,
                      "options": {"fieldlist": list(fields[1:]), **merge},
                      # Contacts up to 200 a call, accounts as the default target sends them.
                      "target": {"type": "collection", **up} if soup == "contacts" else up})
    for name, content in (("userstore", {"soups": soups}), ("usersyncs", {"syncs": syncs})):
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(content, file)
    shutil.copy(os.path.dirname(__file__) + "/writer.lua", folder)


def machine():
    """The command that gives a process a machine of its own, as far as process ids go; empty where that is not permitted.

    On one machine a process is seen to be alive, and keeps its leases however long it is paused.
    """
    as_root = ["--user", "--map-root-user"] if os.getuid() else []
    command = ["unshare", *as_root, "--mount-proc", "--pid", "--fork", "--kill-child"]
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return command
    return []


class Place:
    """What all hosts have in common."""

    def __init__(self, folder, tureen, cluster, settings, password_file):
        self.folder, self.tureen, self.cluster = folder, tureen, cluster
        self.settings, self.password_file, self.project = settings, password_file, folder + "/project"
        self.links, self.machine = [], machine()

    def link(self):
        link = proxy.Link(lambda: self.cluster.primary.port)
        self.links.append(link)
        return link

    def environment(self, home, port):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TUREEN_", "PG"))}
        return {**kept, **self.settings, "TUREEN_HOME": home, "TZ": "UTC",
                "TUREEN_STORE": f"postgres://worker@127.0.0.1:{port}/postgres?sslmode=disable",
                "TUREEN_STORE_PASSWORD_FILE": self.password_file}


class Host:
    """A machine with a home and its own path to the database. At most one process runs on it at a time."""

    def __init__(self, place, name):
        self.place, self.name, self.link = place, name, place.link()
        self.home, self.log = f"{place.folder}/{name}", f"{place.folder}/{name}.log"
        self.environment = place.environment(self.home, self.link.port)
        self.process, self.is_paused = None, False

    def sign_in(self, org, secret_file):
        status = self.run("login", "--org", org.name, "--url", org.url, "--flow", "clientCredentials", "--client-id", org.CLIENT,
                          "--secret-file", secret_file)
        if status != 0:
            raise RuntimeError(f"{self.name} could not sign in; see {self.log}")

    def start(self, *arguments):
        # In a session of its own: Ctrl-C is for the harness, which ends the others.
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [*self.place.machine, self.place.tureen, *arguments], cwd=self.place.project, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        return self.process

    def run(self, *arguments):
        return self.start(*arguments).wait()

    def output(self, *arguments):
        """What a command prints; its errors go to the log."""
        with open(self.log, "ab") as log:
            return subprocess.run([self.place.tureen, *arguments], cwd=self.place.project, env=self.environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, check=True, text=True).stdout

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def pid(self):
        """The process of the command itself, not of the one that made its machine; None if there is none now."""
        with contextlib.suppress(OSError, AttributeError):
            pid = self.process.pid
            if self.place.machine:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as children:
                    pid = int((children.read().split() or ["0"])[0])
            if pid and os.readlink(f"/proc/{pid}/exe") == self.place.tureen:
                return pid
        return None

    def signal(self, number):
        end = time.monotonic() + 600
        while self.is_running and time.monotonic() < end:
            if pid := self.pid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
                return
            time.sleep(0.01)

    def holds(self, owner):
        """Whether the owner of a lease, boot:process:start/namespace/number, is the process of this host."""
        with contextlib.suppress(OSError, IndexError):
            if pid := self.pid():
                process, namespace = owner.split("/")[:2]
                return os.readlink(f"/proc/{pid}/ns/pid") == namespace and (
                    bool(self.place.machine) or process.split(":")[1] == str(pid))
        return False

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def pause(self):
        self.is_paused = True
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.is_paused = False
        self.signal(signal.SIGCONT)


class Worker(Host):
    """A host that runs `tureen worker`."""

    def begin(self):
        self.start("worker", "--json", "--slots", "3", "--config", self.place.project)

    def kill(self):
        super().kill()
        self.begin()

    def told(self):
        """Owner and job of each attempt that it told to be done; the owner changes with each start."""
        owner, told = None, []
        with open(self.log, encoding="utf-8", errors="replace") as log:
            for line in log:
                with contextlib.suppress(json.JSONDecodeError):
                    event = json.loads(line)
                    owner = event.get("owner", owner)
                    if event.get("event") == "done":
                        told.append((owner, event["job"]["id"]))
        return told

    def stop(self):
        """SIGTERM. Returns the exit status; None if it does not end in time."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(600)
        except subprocess.TimeoutExpired:
            super().kill()
            return None


class ByHand(Host):
    """A host where `tureen sync` runs from time to time."""

    def begin(self, random):
        self.stopping, self.runs, self.statuses = threading.Event(), 0, {}
        self.thread = threading.Thread(target=self.loop, args=(random,), daemon=True)
        self.thread.start()

    def loop(self, random):
        while not self.stopping.wait(random.uniform(0, 1)):
            # Those up, which are the more dangerous ones, more often.
            names = random.sample(SYNCS[:2], 2) + random.sample(SYNCS[2:], random.randrange(0, 2))
            status = self.run("sync", "--quiet", *names)
            self.runs += 1
            self.statuses[status] = self.statuses.get(status, 0) + 1

    def stop(self):
        self.stopping.set()
        # A request that hangs can take more than a minute.
        self.thread.join(10)
        while self.thread.is_alive():
            self.kill()
            self.thread.join(1)


class Writer(Host):
    """The program that adds and edits records of the store. It may be killed, too."""

    def begin(self, seed, pause_ms):
        self.stop_file, self.pause_ms, self.starts, self.seed = f"{self.place.folder}/stop", pause_ms, 0, seed
        self.start_again()

    def start_again(self):
        self.starts += 1
        # Names stay unique over restarts.
        self.start("run", "--quiet", "writer.lua", str(self.seed % 1000 * 1000 + self.starts), str(self.pause_ms), self.stop_file)

    def kill(self):
        super().kill()
        self.start_again()

    def stop(self):
        with open(self.stop_file, "w", encoding="utf-8"):
            pass
        return self.process.wait(600)

    def written(self):
        """For each type the values of what certainly was written, by name, and the names whose last value is uncertain."""
        values = {kind: {} for kind, _ in SOUPS.values()}
        uncertain = {kind: set() for kind in values}
        with open(self.log, encoding="utf-8", errors="replace") as log:
            for line in log:
                words = line.rstrip("\n").split("\t")
                if len(words) == 4 and words[1] in values:
                    what, kind, name, value = words
                    if what in ("added", "edited"):
                        values[kind][name] = value
                        uncertain[kind].discard(name)
                    else:
                        uncertain[kind].add(name)
        return values, uncertain
