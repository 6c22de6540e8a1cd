"""ParseSwift, unchanged, against the Parse server of `tureen sandbox`: the program in `swift-sdk` is built with it and run.

PARSE_SWIFT may name a checkout, whose folder is called parse-swift; without it git fetches one.
"""

import os
import unittest

from sandbox import ROOT, Sandbox
from sdk import FOLDER, brought, checks, step

SOURCE = "https://github.com/netreconlab/Parse-Swift.git"
VERSION = "6.1.0"


class ParseSwiftTests(unittest.TestCase):
    def test_client_checks_hold(self):
        command = ["git", "clone", "--quiet", "--depth", "1", "--branch", VERSION, SOURCE, "parse-swift"]
        package = brought("PARSE_SWIFT", "parse-swift", command)
        scratch = FOLDER / "swift"
        why = step(
            ["swift", "build", "--package-path", ROOT / "Tests/Clients/swift-sdk", "--scratch-path", scratch], 580,
            env={**os.environ, "PARSE_SWIFT": package})
        self.assertIsNone(why)
        sandbox = Sandbox("--contacts", "1", "--accounts", "1", tls=False)
        self.addCleanup(sandbox.stop)
        keys = [sandbox.parse_keys[name] for name in ["application id", "client key", "master key"]]
        # It keeps downloads in folders beside it.
        checks(self, [scratch / "debug/ParseSwiftClient", sandbox.parse, *keys], sandbox.folder.name)


if __name__ == "__main__":
    unittest.main()
