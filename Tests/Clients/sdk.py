"""Parse SDKs of other languages: brought here, or a reason to skip their tests."""

import os
import shutil
import subprocess
import unittest

from sandbox import ROOT

FOLDER = ROOT / ".build/clients-sdk"


def step(command, seconds, **options):
    """Runs a command; returns why it failed, or None."""
    try:
        done = subprocess.run(
            command, timeout=seconds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
            **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else "\n".join(done.stdout.splitlines()[-20:])


def brought(variable, path, command):
    """The path that an environment variable names; else `path` below .build, brought by `command` where it is missing.

    Raises SkipTest where neither is to be had: a machine without a network still runs the other clients.
    """
    if named := os.environ.get(variable):
        return named
    if not (FOLDER / path).exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        why = step(command, 60, cwd=FOLDER, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
        if why is not None or not (FOLDER / path).exists():
            shutil.rmtree(FOLDER / path.split("/")[0], ignore_errors=True)
            reason = (why or "it brought nothing").splitlines() or ["no reason given"]
            raise unittest.SkipTest(f"{command[0]} cannot bring the SDK, and {variable} names none: {reason[-1]}")
    return str(FOLDER / path)


def checks(test, command, folder, **options):
    """Runs a program that prints `ok` or `not ok` for each of its checks, in a folder that it may fill."""
    done = subprocess.run(
        command, timeout=900, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, **options)
    failures = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
    test.assertEqual(done.returncode, 0, "\n".join(failures))
    test.assertGreater(done.stdout.count("\nok "), 10, done.stdout)
