"""Kinto on a free port of this machine, with its records in memory. Prints its address."""

import kinto
from waitress import create_server

# Whoever signs in with a name and a password may do everything: nobody else reaches this machine's loopback.
SETTINGS = {
    "storage_backend": "kinto.core.storage.memory",
    "cache_backend": "kinto.core.cache.memory",
    "permission_backend": "kinto.core.permission.memory",
    "multiauth.policies": "basicauth",
    "userid_hmac_secret": "not so secret",
    "bucket_create_principals": "system.Authenticated",
    "paginate_by": 40,
}

server = create_server(kinto.main({}, **SETTINGS), host="127.0.0.1", port=0)
print(f"http://127.0.0.1:{server.effective_port}", flush=True)
server.run()
