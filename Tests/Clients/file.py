"""Runs the tests of one file and prints each that was skipped as `skipped: TEST: REASON`.

usage: file.py FILE [unittest arguments]
"""

import sys
import unittest
from pathlib import Path

program = unittest.main(
    module=None, exit=False,
    argv=["unittest", "discover", "--start-directory", str(Path(__file__).parent), "--pattern", *sys.argv[1:]])
for test, reason in program.result.skipped:
    print(f"skipped: {test.id()}: {' '.join(reason.split())}")
sys.exit(not program.result.wasSuccessful())
