"""A PostgreSQL primary with a synchronous standby, which can crash and be promoted."""

import glob
import os
import pwd
import shutil
import subprocess
import time

from .ports import HeldPort

ROLE = "worker"
LIMIT_S = 600


def programs():
    """The folder of the newest installed server's programs; Debian keeps them out of PATH. None without a server."""
    found = [path for path in glob.glob("/usr/lib/postgresql/*/bin") if os.access(path + "/initdb", os.X_OK)]
    return max(found, key=lambda path: float(path.split("/")[4]), default=None)


class Server:
    """One PostgreSQL server with a folder of its own."""

    def __init__(self, folder):
        self.held = HeldPort()
        self.folder, self.port, self.data = folder, self.held.number, folder + "/data"
        self.bin = programs()
        # PostgreSQL refuses to run as root.
        self.user = None
        if os.getuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            self.user = "postgres" if "postgres" in names else "nobody"
        os.makedirs(folder)
        if self.user:
            shutil.chown(folder, self.user)

    def program(self, name, *arguments, check=True):
        command = [f"{self.bin}/{name}", *arguments]
        if self.user:
            command = ["runuser", "-u", self.user, "--", *command]
        # A server keeps what it inherits: a pipe would never end.
        with open(self.folder + ".programs.log", "ab") as log:
            done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"{name} ended with {done.returncode}; see {self.folder}.programs.log and {self.folder}/log")
        return done.returncode

    def create(self):
        self.program("initdb", "-D", self.data, "-U", "tureen", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N")
        with open(self.data + "/pg_hba.conf", "w", encoding="utf-8") as rules:
            rules.write(f"local all all trust\nhost all {ROLE} all scram-sha-256\nhost all all all trust\n"
                        "host replication all all trust\n")
        self.configure()

    def copy(self, primary):
        self.program("pg_basebackup", "-h", "127.0.0.1", "-p", str(primary.port), "-U", "tureen", "-D", self.data, "-R",
                     "-c", "fast", "--no-sync")
        self.configure()

    def configure(self):
        with open(self.data + "/postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write(f"""
listen_addresses = '127.0.0.1'
port = {self.port}
unix_socket_directories = '{self.folder}'
# A server that ends without warning loses what it has in memory, not what it gave to the system.
fsync = off
# Acknowledged but not synced transactions stay in memory for long, so that a crash loses them.
wal_writer_delay = 2s
wal_keep_size = 256MB
max_connections = 100
shared_buffers = 32MB
log_statement = 'none'
""")

    def start(self):
        self.program("pg_ctl", "-D", self.data, "-w", "-t", str(LIMIT_S), "-l", self.folder + "/log", "start")

    def stop(self):
        """Ends it without warning."""
        self.program("pg_ctl", "-D", self.data, "-m", "immediate", "stop", check=False)

    def promote(self):
        self.program("pg_ctl", "-D", self.data, "-w", "-t", str(LIMIT_S), "promote")

    def query(self, sql):
        """The rows of a statement, as lists of texts; null is empty."""
        done = subprocess.run(
            [f"{self.bin}/psql", "-XqAt", "-F", "\x1f", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
             "-U", "tureen", "-d", "postgres", "-c", sql],
            env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning", "PGCONNECT_TIMEOUT": "60"},
            capture_output=True, text=True, check=False, timeout=LIMIT_S)
        if done.returncode != 0:
            raise RuntimeError(f"PostgreSQL refused a statement: {done.stderr.strip()}")
        return [line.split("\x1f") for line in done.stdout.splitlines()]


class Cluster:
    """The primary and its standby. Commits wait for the standby, so that a promotion loses no synced one."""

    def __init__(self, folder, password, has_standby=True):
        self.folder, self.count = folder, 0
        self.password, self.has_standby = password, has_standby
        self.primary = self.standby = None

    def start(self):
        self.primary = self.new_server()
        self.primary.create()
        self.primary.start()
        self.primary.query(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{self.password}'")
        self.primary.query(f"GRANT CREATE ON DATABASE postgres TO {ROLE}")
        if self.has_standby:
            self.add_standby()

    def new_server(self):
        self.count += 1
        return Server(f"{self.folder}/postgres-{self.count}")

    def add_standby(self):
        self.standby = self.new_server()
        self.standby.copy(self.primary)
        self.standby.start()
        self.primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.query("SELECT pg_reload_conf()")
        self.wait_for_standby()

    def wait_for_standby(self):
        """Waits until commits go to the standby before they are acknowledged."""
        end = time.monotonic() + LIMIT_S
        while self.primary.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != [["1"]]:
            if time.monotonic() > end:
                raise RuntimeError("the standby does not follow the primary")
            time.sleep(0.1)

    def crash(self):
        """Ends the primary without warning and starts it again: it recovers from its log."""
        self.primary.stop()
        self.primary.start()

    def promote(self):
        """Ends the primary for good. The standby takes its place at once; it gets a new standby with `add_standby`."""
        self.wait_for_standby()
        old = self.primary
        old.stop()
        self.standby.promote()
        # It has copied the setting, and has nobody to wait for.
        self.standby.query("ALTER SYSTEM RESET synchronous_standby_names")
        self.standby.query("SELECT pg_reload_conf()")
        self.primary, self.standby = self.standby, None
        shutil.rmtree(old.data, ignore_errors=True)

    def query(self, sql):
        return self.primary.query(sql)

    def stop(self):
        for server in (self.standby, self.primary):
            if server:
                server.stop()
