"""The packages that are linked into the programs, with their licences: the file NOTICE and an SPDX document."""
import json
import re
import subprocess
import time
from pathlib import Path

import files

APACHE = "Apache License\n                           Version 2.0"
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"
# Parts of the Swift toolchain that -static-stdlib links in.
RUNTIME = {
    "swift": ("the Swift standard library and runtime", SWIFT_LICENCE),
    "swift-foundation": ("FoundationEssentials", SWIFT_LICENCE),
    "swift-corelibs-libdispatch": ("libdispatch", SWIFT_LICENCE),
}


def components(root, built):
    """Returns the linked packages: a list of {name, version, url, licence, notices}, by name."""
    resolved = json.loads((root / "Package.resolved").read_text())
    versions = {pin["identity"]: pin for pin in resolved["pins"]}
    checkouts = built.parents[1] / "checkouts"
    if not checkouts.is_dir():
        checkouts = root / ".build" / "checkouts"
    linked = linked_targets(built)
    found = [component(folder, versions[folder.name.lower()]) for folder in sorted(checkouts.iterdir())
             if folder.name.lower() in versions and is_linked(folder, linked)]
    return sorted(found + runtime(), key=lambda each: each["name"])


def linked_targets(built):
    """Returns the names of the targets whose objects the linker put into the command or the library."""
    lists = [built / f"{product}.product" / "Objects.LinkFileList" for product in ["tureen", "TureenShared"]]
    return {name for file in lists for name in re.findall(r"/([^/]+)\.build/", file.read_text())}


def is_linked(folder, linked):
    return any(target.name in linked for target in (folder / "Sources").iterdir())


def component(folder, pin):
    licence_file = next(path for path in sorted(folder.glob("LICENSE*")))
    notices = [path.read_text() for path in sorted(folder.glob("NOTICE*"))]
    licence = licence_of(licence_file.read_text())
    texts = notices if licence == "Apache-2.0" else [licence_file.read_text(), *notices]
    return {"name": folder.name, "version": pin["state"]["version"], "url": pin["location"], "licence": licence, "texts": texts}


def licence_of(text):
    if APACHE.replace(" ", "") in text.replace(" ", ""):
        return SWIFT_LICENCE if "Runtime Library Exception" in text else "Apache-2.0"
    for name, mark in [("MIT", "MIT License"), ("ISC", "ISC License"), ("BSD-3-Clause", "Neither the name")]:
        if mark in text:
            return name
    raise SystemExit("package: a licence is not known; add it to licences.py")


def runtime():
    shown = subprocess.run(["swift", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
    version = re.search(r"Swift version (\S+)", shown).group(1)
    made = []
    for name, (what, licence) in RUNTIME.items():
        exception = ", with the Runtime Library Exception of the licence" if licence == SWIFT_LICENCE else ""
        made.append({"name": name, "version": version, "url": f"https://github.com/swiftlang/{name}", "licence": licence,
                     "texts": [f"{what}{exception}.\n"]})
    return made


def write_notice(components, path):
    parts = ["Tureen contains the following software in binary form.\n"]
    for each in components:
        parts.append(f"{'=' * 72}\n{each['name']} {each['version']}\n{each['url']}\nLicence: {each['licence']}\n")
        parts += [text.strip() + "\n" for text in each["texts"]]
    parts.append(f"{'=' * 72}\nThe Apache License 2.0: https://www.apache.org/licenses/LICENSE-2.0,"
                 " on Debian /usr/share/common-licenses/Apache-2.0\n")
    Path(path).write_text("\n".join(parts))


def write_spdx(components, version, path):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(files.epoch()))
    packages = [spdx_package("tureen", version, "NOASSERTION", "MIT")]
    packages += [spdx_package(each["name"], each["version"], each["url"], each["licence"]) for each in components]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", packages[0]["SPDXID"])]
    relations += [(packages[0]["SPDXID"], "STATIC_LINK", each["SPDXID"]) for each in packages[1:]]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"tureen-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/tureen-{version}-{files.epoch()}",
        "creationInfo": {"created": created, "creators": ["Tool: scripts/dev/package"]}, "packages": packages,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }
    Path(path).write_text(json.dumps(document, indent=2) + "\n")


def spdx_package(name, version, url, licence):
    return {
        "name": name, "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "versionInfo": version,
        "downloadLocation": url, "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
        "filesAnalyzed": False}
