"""The Debian packages: tureen, libtureen0, libtureen-dev and liblua5.4-tureen."""
import gzip
import os
import shutil
import subprocess
from pathlib import Path

import files

MAINTAINER = os.environ.get("DEBEMAIL", "Tureen <tureen@localhost>")

# The libraries that are loaded at run time, which dpkg-shlibdeps cannot see.
LOADED = "libcurl4t64 | libcurl4 (>= 7.87), libssl3t64 | libssl3"

# For each package: the paths it takes from an installation, what it needs besides the libraries it links, and its description.
# A path that ends with / is a folder. @LIB@ is the folder for libraries of this architecture.
PACKAGES = {
    "tureen": {
        "paths": ["usr/bin/", "usr/libexec/", "usr/share/"], "section": "database", "depends": LOADED,
        "recommends": "ca-certificates, libpcre2-8-0",
        "summary": "sync records with servers and keep them offline",
        "text": "The command runs Lua scripts that keep records in a local SQLite store and sync them with Salesforce\n"
                "orgs, Parse servers and JSON collections over HTTP. It serves a sandbox org to try it without an account.",
    },
    "libtureen0": {
        "paths": ["@LIB@/libtureen.so.0"], "section": "libs", "depends": LOADED,
        "recommends": "ca-certificates, libpcre2-8-0", "summary": "offline data sync for programs - shared library",
        "text": "The library keeps records in a local SQLite store and syncs them with servers on background threads.",
    },
    "libtureen-dev": {
        "paths": ["usr/include/", "@LIB@/libtureen.so", "@LIB@/pkgconfig/", "@LIB@/cmake/"], "section": "libdevel",
        "depends": "libtureen0 (= @VERSION@)", "summary": "offline data sync for programs - development files",
        "text": "The header tureen.h and the files by which pkg-config and CMake find the library.",
    },
    "liblua5.4-tureen": {
        "paths": ["@LIB@/lua/"], "section": "interpreters", "depends": "libtureen0 (= @VERSION@)", "recommends": "lua5.4",
        "summary": "offline data sync for Lua 5.4",
        "text": "The module tureen for Lua 5.4: the same scripts as in the command, in any program that has Lua inside.",
    },
}


def make(root, built, output, work, version):
    stage = work / "stage"
    multiarch = query("dpkg-architecture", "-qDEB_HOST_MULTIARCH")
    files.install(root, stage, "/usr", built, f"lib/{multiarch}")
    (stage / "usr/share/tureen/installed").unlink()
    vendor = stage / "usr/share/zsh/vendor-completions"
    (stage / "usr/share/zsh/site-functions").rename(vendor)
    for page in (stage / "usr/share/man/man1").iterdir():
        write_zipped(page.with_name(page.name + ".gz"), page.read_bytes())
        page.unlink()
    for name, about in PACKAGES.items():
        tree = work / name
        for path in about["paths"]:
            move(stage, tree, path.replace("@LIB@", f"usr/lib/{multiarch}"))
        add_documents(root, output, tree, name, version)
    left = [path for path in stage.rglob("*") if not path.is_dir()]
    if left:
        raise SystemExit(f"package: no package has {left[0].relative_to(stage)}")
    # A debug build is many times as large as a release and is packed for a test only.
    speed = ["-Zgzip", "-z1"] if built.name == "debug" else []
    for name, about in PACKAGES.items():
        pack(name, about, work, output, version, speed)


def query(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode().strip()


def move(stage, tree, path):
    target = tree / path.rstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(stage / path.rstrip("/"), target)


def write_zipped(path, content):
    with open(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=files.epoch()) as zipped:
        zipped.write(content)


def add_documents(root, output, tree, name, version):
    folder = tree / "usr/share/doc" / name
    folder.mkdir(parents=True)
    copyright_text = (root / "LICENSE").read_text() + "\n" + "-" * 72 + "\n\n" + (output / "NOTICE").read_text()
    (folder / "copyright").write_text(copyright_text)
    date = query("date", "-R", "-u", "-d", f"@{files.epoch()}")
    entry = f"tureen ({version}) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- {MAINTAINER}  {date}\n"
    write_zipped(folder / "changelog.gz", entry.encode())
    write_zipped(folder / "NEWS.gz", (root / "CHANGELOG.md").read_bytes())


def pack(name, about, work, output, version, speed):
    tree = work / name
    control = tree / "DEBIAN"
    control.mkdir()
    depends = ", ".join(filter(None, [about.get("depends", "").replace("@VERSION@", version), linked(work, tree)]))
    size = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_dir()) // 1024 + 1
    text = "\n".join(" " + line for line in about["text"].split("\n"))
    fields = [
        ("Package", name), ("Source", "tureen"), ("Version", version), ("Architecture", query("dpkg", "--print-architecture")),
        ("Maintainer", MAINTAINER), ("Installed-Size", size), ("Depends", depends), ("Recommends", about.get("recommends")),
        ("Section", about["section"]), ("Priority", "optional"), ("Multi-Arch", None if name == "tureen" else "same"),
        ("Description", about["summary"] + "\n" + text)]
    (control / "control").write_text("".join(f"{key}: {value}\n" for key, value in fields if value))
    if name == "libtureen0":
        (control / "shlibs").write_text(f"libtureen 0 libtureen0 (>= {version})\n")
        (control / "triggers").write_text("activate-noawait ldconfig\n")
    paths = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and control not in path.parents)
    (control / "md5sums").write_text("".join(f"{files.checksum(path, 'md5')}  {path.relative_to(tree)}\n" for path in paths))
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) and path.suffix != ".0" else 0o644)
        os.utime(path, (files.epoch(), files.epoch()), follow_symlinks=False)
    subprocess.run(["dpkg-deb", *speed, "--root-owner-group", "--build", tree, output], check=True, stdout=subprocess.DEVNULL)


def linked(work, tree):
    """Returns the packages of the libraries that the programs in a tree link, with the versions whose symbols they use."""
    programs = [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink() and is_elf(path)]
    if not programs:
        return ""
    source = work / "debian"
    source.mkdir(exist_ok=True)
    (source / "control").write_text("Source: tureen\n\nPackage: tureen\nArchitecture: any\n")
    shown = subprocess.run(["dpkg-shlibdeps", "-O", "--warnings=0", *programs], cwd=work, check=True, stdout=subprocess.PIPE)
    return shown.stdout.decode().strip().removeprefix("shlibs:Depends=")


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"
