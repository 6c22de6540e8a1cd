"""A rock for LuaRocks that carries the library, and a rockspec that takes it from the tarball beside it."""
import os
import tarfile
import zipfile

import files

ROCKSPEC = """rockspec_format = "3.0"
package = "tureen"
version = "@VERSION@-1"
source = { url = "file://@TARBALL@", dir = "@FOLDER@" }
description = {
  summary = "Keeps records in local soups and syncs them with servers, in the background",
  detailed = "The self-contained library of Tureen as a module for Lua 5.4. It needs SQLite 3.",
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua ~> 5.4" }
-- LuaRocks unpacks no links, and names a module by the ending of its file.
build = { type = "command", install_command = "cp lib/libtureen.so.0 '$(LIBDIR)/tureen.so'" }
"""


def make(tarball, output, work, version):
    name = f"tureen-{version}-1"
    folder = tarball.name.removesuffix(".tar.gz")
    rockspec = ROCKSPEC.replace("@VERSION@", version).replace("@TARBALL@", tarball.name).replace("@FOLDER@", folder)
    (output / f"{name}.rockspec").write_text(rockspec)
    work.mkdir()
    with tarfile.open(tarball) as archive:
        (work / "tureen.so").write_bytes(archive.extractfile(f"{folder}/lib/libtureen.so.0").read())
    (work / "rockspec").write_text(rockspec)
    manifest = "rock_manifest = {\n  lib = { [\"tureen.so\"] = \"%s\" },\n  [\"%s.rockspec\"] = \"%s\",\n}\n" % (
        files.checksum(work / "tureen.so", "md5"), name, files.checksum(work / "rockspec", "md5"))
    (work / "rock_manifest").write_text(manifest)
    entries = [("lib/tureen.so", work / "tureen.so"), ("rock_manifest", work / "rock_manifest"),
               (f"{name}.rockspec", work / "rockspec")]
    with zipfile.ZipFile(output / f"{name}.linux-{os.uname().machine}.rock", "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, path in entries:
            archive.writestr(zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_DEFLATED)
