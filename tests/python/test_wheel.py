# SPDX-License-Identifier: BSD-3-Clause
"""What is given away: the wheel runs where there is nothing but Python, and the source package is what builds it."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest
from conftest import ROOT

TAG = "cp{}{}".format(*sys.version_info[:2])

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def made():
    """The folder with the finished wheel and the source package, from the build that tools/test has installed."""
    if not os.environ.get("CI") and not (ROOT / "build/wheels/local" / TAG / "fingerprint").exists():
        pytest.skip("the package was not built by tools/test, and building it takes minutes")
    done = subprocess.run([ROOT / "tools/wheels", "--python", sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "build/wheels"


@pytest.fixture(scope="module")
def wheel(made):
    found, = made.glob(f"libpubsub-*-{TAG}-{TAG}-manylinux_*.whl")
    return found


def test_a_wheel_installs_and_runs_in_an_empty_root(wheel):
    done = subprocess.run([ROOT / "tests/install/wheel_in_empty_root", wheel, "--python", sys.executable], capture_output=True,
                          text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)


def test_a_wheel_that_needs_libraries_of_this_machine_is_refused(made, wheel):
    def look_at(file):
        return subprocess.run([made / "tools/bin/python", ROOT / "tools/packaging/finish_wheel.py", file], capture_output=True,
                              text=True, check=False)

    local, = (made / "local" / TAG).glob("*.whl")
    refused = look_at(local)
    assert refused.returncode == 1
    assert "needs libssl.so.3, which is not inside" in refused.stderr and "the tag linux_" in refused.stderr
    assert look_at(wheel).returncode == 0


def test_a_wheel_says_the_licence_and_version_of_each_library_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        text, = (archive.read(name).decode() for name in names if name.endswith("/licenses/THIRD_PARTY_LICENSES"))
    listed = dict(re.findall(r"^  (\S.*?) \d\S*: (\S+)", text, re.M))
    inside = {re.split(r"[-.]", name.split("/")[1])[0] for name in names if name.startswith("libpubsub.libs/")}
    expected = {"libssl": "OpenSSL", "libcrypto": "OpenSSL", "libsimdjson": "simdjson", "libzmq": "libzmq", "libre2": "RE2",
                "libzstd": "Zstandard", "libsodium": "libsodium",
                "librdkafka": "librdkafka", "libnats": "cnats", "libhiredis": "hiredis", "liblz4": "LZ4",
                "libsasl2": "Cyrus SASL", "libprotobuf": "protobuf-c",
                "libnorm": "NORM", "libpgm": "OpenPGM", "libbsd": "libbsd", "libmd": "libmd", "libkeyutils": "keyutils",
                "libcom_err": "libcom_err", "libkrb5": "MIT Kerberos", "libkrb5support": "MIT Kerberos",
                "libk5crypto": "MIT Kerberos", "libgssapi_krb5": "MIT Kerberos"}
    assert {"libssl", "libsimdjson", "libzmq", "libre2", "libzstd", "librdkafka", "libnats", "libhiredis"} <= inside
    assert {expected[name] for name in inside} <= set(listed)
    assert {"{fmt}", "CLI11", "toml++"} <= set(listed)
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert any(re.search(r"/licenses/pybind11-[\d.]+/LICENSE$", name) for name in names)


def test_the_source_package_has_what_builds_it_and_no_more(made):
    source, = made.glob("libpubsub-*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {name.partition("/")[0] for name in names} == {
        "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "PKG-INFO", "README.md", "SECURITY.md", "bench",
        "bindings", "cmake", "libpubsub", "pyproject.toml", "tools"}
    assert {name.split("/")[1] for name in names if name.startswith("tools/")} == {"CMakeLists.txt", "pubsub", "zeek_logs"}
    assert not [name for name in names if name.endswith((".png", ".log", ".pyc", ".so"))]
