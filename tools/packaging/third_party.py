# SPDX-License-Identifier: BSD-3-Clause
"""The licences of what a wheel carries besides libpubsub, as one text.

Versions and texts are those of the Debian packages that were compiled and linked, read where dpkg keeps
them, so that the text says what is inside.
"""

import gzip
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMON = Path("/usr/share/common-licenses")


class Unknown(Exception):
    """Something is carried and its licence cannot be told."""


@dataclass(frozen=True)
class Part:
    name: str
    licence: str  # as SPDX writes it
    file: str  # a file of the Debian package that was used; empty for a library, which is told by its name
    common: "tuple[str, ...]" = ()  # texts of common-licenses that the package's own text refers to


# Compiled in from headers or static libraries.
COMPILED = (
    Part("Boost.Asio and other headers of Boost", "BSL-1.0", "/usr/include/boost/asio.hpp"),
    Part("CLI11", "BSD-3-Clause", "/usr/include/CLI/CLI.hpp"),
    Part("cppzmq", "MIT", "/usr/include/zmq.hpp"),
    Part("{fmt}", "MIT", "/usr/include/fmt/format.h"),
    Part("toml++", "MIT", "/usr/include/toml++/toml.h"),
)
STANDARD_LIBRARY = Part("The C++ standard library of GCC", "GPL-3.0-or-later WITH GCC-exception-3.1", "libstdc++.a", ("GPL-3",))
# The libraries beside the package, by the beginning of their file names.
GRAFTED = {
    "libssl": Part("OpenSSL", "Apache-2.0", "", ("Apache-2.0",)),
    "libcrypto": Part("OpenSSL", "Apache-2.0", "", ("Apache-2.0",)),
    "libbsd": Part("libbsd", "BSD-3-Clause", ""),
    "libcom_err": Part("libcom_err", "MIT", ""),
    "libgssapi_krb5": Part("MIT Kerberos", "MIT", ""),
    "libk5crypto": Part("MIT Kerberos", "MIT", ""),
    "libhiredis": Part("hiredis", "BSD-3-Clause", ""),
    "libkeyutils": Part("keyutils", "LGPL-2.0-or-later", "", ("LGPL-2",)),
    "libkrb5": Part("MIT Kerberos", "MIT", ""),
    "libkrb5support": Part("MIT Kerberos", "MIT", ""),
    "liblz4": Part("LZ4", "BSD-2-Clause", ""),
    "libmd": Part("libmd", "BSD-3-Clause", ""),
    "libnats": Part("cnats", "Apache-2.0", "", ("Apache-2.0",)),
    "libnorm": Part("NORM", "NRL", ""),
    "libpgm": Part("OpenPGM", "LGPL-2.1-only", "", ("LGPL-2.1",)),
    "libprotobuf": Part("protobuf-c", "BSD-2-Clause", ""),
    "librdkafka": Part("librdkafka", "BSD-2-Clause", ""),
    "libre2": Part("RE2", "BSD-3-Clause", ""),
    "libsasl2": Part("Cyrus SASL", "BSD-3-Clause-Attribution", ""),
    "libsodium": Part("libsodium", "ISC", ""),
    "libzmq": Part("libzmq", "LGPL-3.0-or-later WITH LicenseRef-static-linking-exception", "", ("LGPL-3", "GPL-3")),
    "libzstd": Part("Zstandard", "BSD-3-Clause OR GPL-2.0-only", "", ("GPL-2",)),
    "libsimdjson": Part("simdjson", "Apache-2.0", "", ("Apache-2.0",)),
}


def notices(grafted_files, with_standard_library):
    """The whole text for a wheel that has these files in its folder of libraries."""
    packages = {part: _package_of(part.file) for part in COMPILED}
    if with_standard_library:
        packages[STANDARD_LIBRARY] = _package_of(_output("c++", f"-print-file-name={STANDARD_LIBRARY.file}"))
    for name in sorted(grafted_files):
        part = GRAFTED.get(re.split(r"[-.]", name)[0])
        if part is None:
            raise Unknown(f"the wheel carries {name}, whose licence tools/packaging/third_party.py does not know")
        packages[part] = _package_of("*/" + re.sub(r"-[0-9a-f]{8}(?=\.)", "", name))  # auditwheel put a hash before the first dot
    parts = list(packages)
    lines = ["This package carries code of others, each under its own licence:", ""]
    lines += [f"  {part.name} {version}: {part.licence}" for part, (_, version) in packages.items()]
    lines += ["", "Their texts follow as Debian's packages have them; what those refer to is at the end."]
    for part, (package, version) in packages.items():
        lines += ["", _heading(f"{part.name} {version} ({part.licence})"), "", _text_of(package)]
    for common in sorted({name for part in parts for name in part.common}):
        lines += ["", _heading(common), "", (COMMON / common).read_text(encoding="utf-8").rstrip()]
    return "\n".join(lines) + "\n"


def _heading(title):
    return f"{'=' * 78}\n{title}\n{'=' * 78}"


def _package_of(path):
    """The name of the Debian package that has this file, and the version of what it packs."""
    if path.startswith("/"):
        path = str(Path(path).resolve())
    found = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True, check=False).stdout
    package = found.split(":", 1)[0]
    if not package:
        raise Unknown(f"{path} is not from a Debian package, so that its licence text is not known")
    version = _output("dpkg-query", "--show", "--showformat=${Version}", _installed(package))
    upstream = re.sub(r"^\d+:|-[^-]*$", "", version)
    return package, re.sub(r"[+~](ds|dfsg).*$", "", upstream)


def _installed(package):
    """The package with its architecture, where several are installed."""
    return _output("dpkg-query", "--show", "--showformat=${binary:Package}\n", package).splitlines()[0]


def _output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unknown(f"'{' '.join(command)}' failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _text_of(package):
    folder = Path("/usr/share/doc", package)
    for name in ("copyright", "copyright.gz"):
        file = folder / name
        if file.exists():
            raw = gzip.decompress(file.read_bytes()) if name.endswith(".gz") else file.read_bytes()
            return _only_the_licence_of_boost(raw.decode("utf-8")) if "boost" in package else raw.decode("utf-8").rstrip()
    raise Unknown(f"{folder} has no copyright file; was the system installed without documentation?")


def _only_the_licence_of_boost(text):
    """The headers are all under one licence. The file is two megabytes about documentation and tests."""
    found = re.search(r"^License: BSL-1\.0\n((?: .*\n)+)", text, re.M)
    if found is None:
        raise Unknown("the copyright file of Boost does not have the text of its licence where it is expected")
    return re.sub(r"^ \.$", "", found[1], flags=re.M).rstrip()
