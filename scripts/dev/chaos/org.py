"""The sandbox org, and the colleague who works in it meanwhile."""

import json
import os
import re
import secrets
import subprocess
import threading
import urllib.error
import urllib.request

FAULTS = (
    {"kind": "latency", "milliseconds": [20, 400], "probability": 0.4},
    # Uploads take long, so that much happens in the middle of them.
    {"kind": "latency", "milliseconds": [100, 2000], "probability": 0.6, "method": "POST"},
    # An answer that takes long is old when it is stored.
    {"kind": "trickle", "bytesPerSecond": 6000, "probability": 0.3, "method": "GET"},
    {"kind": "dropBeforeHandling", "reset": True, "probability": 0.02},
    {"kind": "dropBeforeResponse", "probability": 0.05},
    {"kind": "dropInsideResponse", "share": 0.5, "probability": 0.03},
    {"kind": "hang", "executed": True, "probability": 0.01},
    {"kind": "unavailable", "retryAfter": 1, "probability": 0.03},
    # Between two attempts of an upload is the time at which a fence matters.
    {"kind": "unavailable", "retryAfter": 2, "probability": 0.4, "method": "POST"},
    {"kind": "serverError", "executed": True, "probability": 0.03},
    {"kind": "htmlPage", "status": 502, "executed": True, "probability": 0.02},
    {"kind": "expireSession", "probability": 0.02},
    {"kind": "failItems", "share": 0.3, "code": "UNABLE_TO_LOCK_ROW", "probability": 0.03},
    {"kind": "lockRows", "share": 0.3, "probability": 0.02},
    {"kind": "expireLocator", "probability": 0.05},
)
USER = "ada@sandbox.tureen.example"
DATA = "/services/data/**"


class Org:
    """`tureen sandbox` and its control interface. An app without a person signs in with `secret`."""

    CLIENT = "fleet"

    def __init__(self, tureen, folder, environment, seed=0, contacts=300, name="org", number=2):
        self.name, self.home, self.log = name, f"{folder}/{name}", f"{folder}/{name}-requests.jsonl"
        self.secret = secrets.token_hex(16)
        self.command = [
            tureen, "sandbox", "--home", self.home, "--contacts", str(contacts), "--accounts", "20",
            "--org-id", str(number), "--sign-in", self.home + "/sign-in.json", "--log", self.log,
            "--fault-seed", str(seed + 1), "--daily-calls", "1000000"]
        self.errors, self.environment, self.process, self.says = f"{folder}/{name}-sandbox.log", environment, None, {}

    def start(self):
        os.makedirs(self.home)
        with open(self.home + "/sign-in.json", "w", encoding="utf-8") as file:
            json.dump({"clients": [{
                "id": self.CLIENT, "secret": self.secret, "runsAs": USER, "flows": ["clientCredentials"]}]}, file)
        with open(self.errors, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                self.command, stdout=subprocess.PIPE, stderr=errors, env=self.environment, text=True, start_new_session=True)
        for line in self.process.stdout:
            if match := re.match(r"Sandbox org at (\S+)", line):
                self.says["url"] = match[1]
            elif match := re.match(r" +(username|password|client id|client secret|control token) +(\S+)$", line):
                self.says[match[1]] = match[2]
            if line.startswith("Ctrl-C"):
                break
        else:
            raise RuntimeError(f"the sandbox did not start; see {self.errors}")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    @property
    def url(self):
        return self.says["url"]

    @property
    def secrets(self):
        names = ("password", "client secret", "control token")
        return {"secret of the app": self.secret, **{name: self.says[name] for name in names}}

    def control(self, action, arguments=None):
        request = urllib.request.Request(
            f"{self.url}/__sandbox/{action}", data=json.dumps(arguments or {}).encode(),
            headers={"Authorization": "Bearer " + self.says["control token"], "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"the sandbox refused {action}: {error.read().decode(errors='replace')}") from error

    def add_faults(self):
        self.control("addFault", {"rules": [{"path": DATA, **fault} for fault in FAULTS]})

    def clear_faults(self):
        self.control("clearFaults")

    def query(self, soql):
        return self.control("query", {"soql": soql})

    def requests(self):
        with open(self.log, encoding="utf-8") as log:
            return [json.loads(line) for line in log if line.endswith("\n")]

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


class Colleague:
    """Edits, adds and deletes records of the org. Nobody else edits the fields that it edits."""

    FIELDS = {"Contact": ("LastName", "Title"), "Account": ("Name", "Industry")}

    def __init__(self, org, random, pause_s=0.15):
        self.org, self.random, self.pause_s = org, random, pause_s
        self.stopping, self.edits, self.own = threading.Event(), 0, []
        self.error = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            ids = {kind: [row["Id"] for row in self.org.query(f"SELECT Id FROM {kind} LIMIT 200")] for kind in self.FIELDS}
            while not self.stopping.wait(self.pause_s):
                self.edit(ids)
                self.edits += 1
        except Exception as error:  # pylint: disable=broad-except
            self.error = error

    def edit(self, ids):
        kind, chance = self.random.choice(("Contact", "Contact", "Account")), self.random.random()
        name, field = self.FIELDS[kind]
        if chance < 0.15:
            self.own.append((kind, self.org.control(
                "create", {"type": kind, "fields": {name: f"there-{self.edits}", field: "new"}})))
        elif chance < 0.22 and self.own:
            kind, deleted = self.own.pop(self.random.randrange(len(self.own)))
            self.org.control("delete", {"type": kind, "id": deleted})
        else:
            edited = self.random.choice(ids[kind])
            self.org.control("update", {"type": kind, "id": edited, "fields": {field: f"edit {self.edits}"}})

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if self.error:
            raise RuntimeError(f"the colleague could not work: {self.error}")
