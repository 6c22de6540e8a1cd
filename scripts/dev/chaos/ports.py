"""Ports for servers that must be told theirs."""

import socket


class HeldPort:
    """A port that nothing else gets until `close`, or until this is forgotten.

    A socket that does not listen is bound to it: the system gives the port to no other socket, and connections are refused. A
    server that sets SO_REUSEADDR, as those do that can be restarted at once, may listen on it, also more than once.
    """

    def __init__(self):
        try:
            self.socket = self.hold(socket.AF_INET6, "::")
        except OSError:
            self.socket = self.hold(socket.AF_INET, "")
        self.number = self.socket.getsockname()[1]

    @staticmethod
    def hold(family, every):
        held = socket.socket(family)
        try:
            if family == socket.AF_INET6:
                held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            held.bind((every, 0))
            # Not before: two sockets that both permit it could be bound to the same port.
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        except OSError:
            held.close()
            raise
        return held

    def close(self):
        self.socket.close()
