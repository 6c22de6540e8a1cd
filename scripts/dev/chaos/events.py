"""What happens meanwhile, in a random order."""

import random as randoms
import threading
import time

from . import proxy

# The owners of leases of syncs that run.
HOLDERS = "SELECT DISTINCT owner FROM tureen_1.leases WHERE owner <> ''"
KINDS = ("kill", "pause", "partition", "crash", "promotion")


class Events:
    """Lets things happen until all of them have."""

    def __init__(self, cluster, hosts, counts, lease_s, seed, say):
        self.cluster, self.hosts, self.lease_s, self.say = cluster, hosts, lease_s, say
        self.random = randoms.Random(f"{seed}/events")
        self.plan = [kind for kind in KINDS for _ in range(counts[kind])]
        self.random.shuffle(self.plan)
        self.busy, self.ongoing, self.done = set(), [], {kind: 0 for kind in KINDS}
        self.long_pauses = 0

    def run(self):
        for kind in self.plan:
            time.sleep(self.random.uniform(0.2, self.lease_s / 2))
            getattr(self, kind)()
            self.done[kind] += 1
        for thread in self.ongoing:
            thread.join()

    def free_host(self):
        """A random host at which nothing happens now."""
        while True:
            free = [host for host in self.hosts if host not in self.busy]
            if free:
                return self.random.choice(free)
            time.sleep(0.05)

    def during(self, host, seconds, end):
        """Calls `end` after a time, while other things happen."""
        self.busy.add(host)

        def wait():
            time.sleep(seconds)
            end()
            self.busy.discard(host)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        self.ongoing.append(thread)

    def kill(self):
        host = self.free_host()
        self.say(f"kill -9 {host.name}")
        host.kill()

    def syncing_host(self):
        """A host that is just running a sync; a random one if there is none for a while."""
        end = time.monotonic() + self.lease_s
        while time.monotonic() < end:
            found = [host for (owner,) in self.cluster.query(HOLDERS) for host in self.hosts
                     if host not in self.busy and host.holds(owner)]
            if found:
                return self.random.choice(found)
        return self.free_host()

    def pause(self):
        host = self.syncing_host() if self.random.random() < 0.7 else self.free_host()
        seconds = self.random.uniform(0.2, 3) * self.lease_s
        self.say(f"SIGSTOP {host.name} for {seconds:.1f} s")
        host.pause()
        self.long_pauses += seconds > self.lease_s
        self.during(host, seconds, host.resume)

    def partition(self):
        host, seconds = self.free_host(), self.random.uniform(0.1, 2) * self.lease_s
        kind = self.random.choice(proxy.PARTITIONS)
        self.say(f"partition {host.name} ({kind}) for {seconds:.1f} s")
        host.link.begin_partition(kind)
        self.during(host, seconds, host.link.end_partition)

    def crash(self):
        self.say("PostgreSQL crashes and starts")
        self.cluster.crash()

    def promotion(self):
        self.say("the primary is lost, the standby is promoted")
        self.cluster.promote()
        for host in self.hosts:
            host.link.reset_all()
        self.cluster.add_standby()
