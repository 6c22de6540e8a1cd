#!/usr/bin/env python3
"""Does in a root of Debian what a container engine does with the container file of a release, so that its test needs none.

usage: image.py build ROOT CONTEXT     carries out CONTEXT/Containerfile in ROOT, as root
       image.py run ROOT [ARGUMENT...] runs the entry point with these arguments, or with those of the file
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def instructions(text):
    """Yields (name, value) of each instruction, with its continued lines."""
    lines = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    for line in lines.replace("\\\n", " ").split("\n"):
        if line.strip():
            name, _, value = line.strip().partition(" ")
            yield name, value.strip()


def copy(root, context, value):
    *sources, target = value.split()
    for source in sources:
        found = sorted(context.glob(source))
        if not found:
            sys.exit(f"image: COPY {source} matches no file")
        for path in found:
            shutil.copy(path, root / target.lstrip("/"))


def build(root, context):
    image = {"env": [PATH], "user": "root", "dir": "/", "entry": [], "command": []}
    for name, value in instructions((context / "Containerfile").read_text()):
        if name == "COPY":
            copy(root, context, value)
        elif name == "RUN":
            inside(root, image, ["/bin/sh", "-c", value])
        elif name == "ENV":
            image["env"] += value.split()
        elif name == "USER":
            image["user"] = value
        elif name == "WORKDIR":
            image["dir"] = value
            (root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name in ("ENTRYPOINT", "CMD"):
            image["entry" if name == "ENTRYPOINT" else "command"] = json.loads(value)
        elif name not in ("FROM", "VOLUME"):
            sys.exit(f"image: {name} is not known here")
    described(root).write_text(json.dumps(image))


def described(root):
    return root.with_name(root.name + ".image.json")


def inside(root, image, command, check=True):
    user, folder = image["user"], image["dir"]
    _, _, uid, gid, _, home, _ = re.search(rf"(?m)^{user}:.*$", (root / "etc/passwd").read_text())[0].split(":")
    moved = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', folder, *command]
    rights = ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    # The mount ends with the command.
    mounted = ["unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" 2>/dev/null; exec chroot "$0" "$@"', root]
    return subprocess.run(
        [*mounted, "/usr/bin/env", "-i", f"HOME={home}", *image["env"], *rights, *moved], check=check).returncode


def run(root, arguments):
    image = json.loads(described(root).read_text())
    return inside(root, image, image["entry"] + (arguments or image["command"]), check=False)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "build":
        build(Path(sys.argv[2]), Path(sys.argv[3]))
    elif len(sys.argv) >= 3 and sys.argv[1] == "run":
        sys.exit(run(Path(sys.argv[2]), sys.argv[3:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
