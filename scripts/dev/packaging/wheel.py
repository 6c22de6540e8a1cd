"""A Python wheel that carries the library: `py3-none` for this platform, because scripts/tureen.py calls it through ctypes."""
import base64
import hashlib
import os
import tarfile
import zipfile

GLIBC = "2_36"  # of Debian 12, on which releases are built

METADATA = """Metadata-Version: 2.1
Name: tureen
Version: @VERSION@
Summary: Keeps records offline and syncs them with servers, in the background
License: MIT
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.9
Description-Content-Type: text/markdown

The library of Tureen for Python programs: `from tureen import Tureen`. It needs SQLite 3, and loads libcurl and OpenSSL 3 from the
system for HTTP.
"""


def make(root, tarball, output, version):
    """Makes the wheel from the library of the tarball. Python finds it beside the module."""
    machine, name = os.uname().machine, f"tureen-{version}"
    tag = f"py3-none-manylinux_{GLIBC}_{machine}"
    folder = tarball.name.removesuffix(".tar.gz")
    with tarfile.open(tarball) as archive:
        library = archive.extractfile(f"{folder}/lib/libtureen.so.0").read()
        notice = archive.extractfile(f"{folder}/NOTICE").read()
    info = f"{name}.dist-info"
    entries = [
        ("tureen.py", (root / "scripts/tureen.py").read_bytes()), ("libtureen.so", library),
        (f"{info}/METADATA", METADATA.replace("@VERSION@", version).encode()),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tureen\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()),
        (f"{info}/LICENSE", (root / "LICENSE").read_bytes()), (f"{info}/NOTICE", notice),
    ]
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in entries) + f"{info}/RECORD,,\n"
    path = output / f"{name}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in [*entries, (f"{info}/RECORD", record.encode())]:
            described = zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0))
            described.external_attr = 0o644 << 16
            archive.writestr(described, data, zipfile.ZIP_DEFLATED)
    return path


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
