"""Shared by all packages: the version, an installation to take files from, time stamps, archives and checksums."""
import gzip
import hashlib
import os
import re
import subprocess
import tarfile


def version(root):
    header = (root / "Sources/CTureenModule/include/tureen.h").read_text()
    return re.search(r'#define TUREEN_VERSION "(.*)"', header).group(1)


def set_epoch(root):
    """Sets SOURCE_DATE_EPOCH to the time of the last commit, unless it is set."""
    if "SOURCE_DATE_EPOCH" not in os.environ:
        shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, stdout=subprocess.PIPE, check=False)
        os.environ["SOURCE_DATE_EPOCH"] = shown.stdout.decode().strip() or "0"


def epoch():
    return int(os.environ["SOURCE_DATE_EPOCH"])


def install(root, destination, prefix, built, libdir="lib"):
    """Installs into an empty tree, without the symbols that only a debugger reads."""
    environment = dict(os.environ, DESTDIR=str(destination))
    command = [root / "scripts/dev/install", "--prefix", prefix, "--libdir", libdir, "--built", built]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    tree = destination / prefix.lstrip("/")
    for program in [tree / "bin/tureen", tree / "libexec/tureen/tureen-worker", tree / libdir / "libtureen.so.0"]:
        subprocess.run(["strip", "--strip-unneeded", program], check=True)


def pack_tar(tree, path):
    """Packs a folder; the archive depends only on its content."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = epoch()
        return entry

    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=epoch()) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for file in [tree, *sorted(tree.rglob("*"))]:
                archive.add(file, file.relative_to(tree.parent), recursive=False, filter=plain)
    return path


def checksum(path, kind="sha256"):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def write_checksums(folder):
    lines = [f"{checksum(path)}  {path.name}\n" for path in sorted(folder.iterdir()) if path.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_text("".join(lines))
