"""What lies between a host and the database: a TCP proxy that can delay, hold back and cut connections."""

import contextlib
import socket
import threading
import time

# How a partition treats what is sent meanwhile: connections are reset; bytes in one direction, or both, never arrive and the
# connections end with the partition; or they arrive late, when nobody expects them any more.
PARTITIONS = ("cut", "loseAnswers", "loseRequests", "loseBoth", "lateRequests", "lateBoth")


class Link:
    """The path of one host to the database. `target` returns the port of the present primary."""

    def __init__(self, target):
        self.target = target
        # Changes what the host sends, with the same length; for the run without fences.
        self.rewrite = None
        self.changed = threading.Condition()
        self.partition, self.delay, self.is_open = None, 0.0, True
        self.pairs = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        with self.changed:
            if self.partition == "cut" or not self.is_open:
                reset(client)
                return
            # A connection is not made during a partition; whoever waits for one may give up.
            self.changed.wait_for(lambda: self.partition is None or not self.is_open)
        try:
            server = socket.create_connection(("127.0.0.1", self.target()), timeout=60)
        except OSError:
            reset(client)
            return
        server.settimeout(None)
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = Pair(client, server)
        with self.changed:
            self.pairs.add(pair)
        for source, sink, direction in ((client, server, "Requests"), (server, client, "Answers")):
            threading.Thread(target=self.pump, args=(pair, source, sink, direction), daemon=True).start()

    def pump(self, pair, source, sink, direction):
        try:
            while data := source.recv(65536):
                with self.changed:
                    while self.holds(direction) and not pair.is_over:
                        pair.has_lost = pair.has_lost or self.partition.startswith("lose")
                        self.changed.wait()
                    delay = self.delay
                if pair.is_over or pair.has_lost:
                    break
                if delay:
                    time.sleep(delay)
                sink.sendall(self.rewrite(data) if self.rewrite and direction == "Requests" else data)
        except OSError:
            pass
        # What has been read is not lost by this: the other direction may still hold something back.
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        with self.changed:
            pair.ended += 1
            if pair.ended == 2 or pair.has_lost:
                self.end(pair)

    def holds(self, direction):
        return self.partition in ("loseBoth", "lateBoth", "lose" + direction, "late" + direction)

    def end(self, pair):
        pair.is_over = True
        for one in (pair.client, pair.server):
            reset(one)
        self.pairs.discard(pair)

    def begin_partition(self, kind):
        with self.changed:
            self.partition = kind
            if kind == "cut":
                for pair in list(self.pairs):
                    self.end(pair)
            self.changed.notify_all()

    def end_partition(self):
        with self.changed:
            self.partition = None
            self.changed.notify_all()

    def set_delay(self, seconds):
        with self.changed:
            self.delay = seconds

    def reset_all(self):
        """Ends the connections, as those to a server that is no longer the primary."""
        with self.changed:
            for pair in list(self.pairs):
                self.end(pair)
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.is_open, self.partition = False, None
            self.listener.close()
        self.reset_all()


class Pair:
    """The two ends of a connection."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.is_over, self.has_lost, self.ended = False, False, 0


def reset(end):
    """Closes a socket; its reader wakes up."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
