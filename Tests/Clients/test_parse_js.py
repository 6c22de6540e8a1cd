"""The Parse JavaScript SDK, unchanged, against the Parse server of `tureen sandbox`: `js-sdk/client.js` drives it.

PARSE_JS may name the module of the SDK for Node; without it npm installs one.
"""

import shutil
import unittest

from sandbox import ROOT, Sandbox
from sdk import brought, checks

VERSION = "5.3.0"


class ParseJavaScriptTests(unittest.TestCase):
    def test_client_checks_hold(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed")
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", "js", f"parse@{VERSION}"]
        module = brought("PARSE_JS", "js/node_modules/parse/node.js", command)
        sandbox = Sandbox("--contacts", "1", "--accounts", "1", tls=False)
        self.addCleanup(sandbox.stop)
        keys = [sandbox.parse_keys[name] for name in ["application id", "JavaScript key", "master key"]]
        checks(self, ["node", ROOT / "Tests/Clients/js-sdk/client.js", module, sandbox.parse, *keys], sandbox.folder.name)


if __name__ == "__main__":
    unittest.main()
