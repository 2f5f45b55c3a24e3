#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a wheel that runs elsewhere from a wheel that runs on this machine.

    finish_wheel.py WHEEL FOLDER    puts the finished wheel into FOLDER
    finish_wheel.py WHEEL           only looks at this wheel
    status 1, and a sentence, if the wheel would not do

Puts the libraries it needs inside (auditwheel), and the licences of what it carries; then looks at every
program and library in it: which symbols it shows, which libraries it wants, where it looks for them, and
whether it names the folder it was made in. The tag says the oldest glibc that has all symbols in use.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import third_party
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

ROOT = Path(__file__).resolve().parents[2]
# What every system with the glibc of the tag has; libz by the word of the tag's standard.
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt|libresolv|libz|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+")


class Unfit(Exception):
    """The wheel must not be given to anybody; the text says why."""


class Binary:
    """A program or library, as its dynamic section describes it."""

    def __init__(self, path):
        self.path = path
        with path.open("rb") as file:
            elf = ELFFile(file)
            self.needed, self.run_paths, self.exported, self.versions = [], [], set(), set()
            for section in elf.iter_sections():
                if isinstance(section, DynamicSection):
                    self._read_tags(section)
                if isinstance(section, GNUVerNeedSection):
                    self.versions.update(each.name for _, entries in section.iter_versions() for each in entries)
            symbols = elf.get_section_by_name(".dynsym")
            for each in symbols.iter_symbols() if symbols else ():
                if each["st_shndx"] != "SHN_UNDEF" and each["st_info"]["bind"] != "STB_LOCAL":
                    self.exported.add(each.name)
            self.has_debug_data = elf.get_section_by_name(".symtab") is not None

    def _read_tags(self, section):
        for tag in section.iter_tags():
            if tag.entry.d_tag == "DT_NEEDED":
                self.needed.append(tag.needed)
            elif tag.entry.d_tag == "DT_RUNPATH":
                self.run_paths += tag.runpath.split(":")
            elif tag.entry.d_tag == "DT_RPATH":
                self.run_paths += tag.rpath.split(":")

    def newest_glibc(self):
        return max((tuple(map(int, each[6:].split("."))) for each in self.versions if re.match(r"GLIBC_[\d.]+$", each)),
                   default=(0,))


def run(*command):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        raise Unfit(f"{' '.join(map(str, command[:2]))} failed:\n{done.stdout}")


def only(paths, what):
    found = sorted(paths)
    if len(found) != 1:
        raise Unfit(f"there is not one {what}, but {len(found)}")
    return found[0]


def binaries_in(folder):
    return [Binary(path) for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"]


def problems_of(binary, folder, grafted):
    """What is wrong with a program or library of the unpacked wheel."""
    name = binary.path.relative_to(folder)
    ours = binary.path.parent.name in ("libpubsub", "libpubsub_commands")
    if binary.path.name.startswith("_core.") and binary.exported != {"PyInit__core"}:
        yield f"{name} shows more symbols than PyInit__core: {sorted(binary.exported)[:5]}"
    elif ours and any("pubsub" in symbol for symbol in binary.exported):
        yield f"{name} shows symbols of libpubsub: {sorted(x for x in binary.exported if 'pubsub' in x)[:5]}"
    for library in binary.needed:
        if library not in grafted and not SYSTEM.fullmatch(library):
            yield f"{name} needs {library}, which is not inside"
    for path in binary.run_paths:
        if not re.fullmatch(r"\$ORIGIN(/[\w./]+)?", path):
            yield f"{name} looks for libraries in {path}"
    if binary.has_debug_data:
        yield f"{name} is not stripped"
    if str(ROOT).encode() in binary.path.read_bytes():
        yield f"{name} names the folder it was built in"


def check(folder, wheel):
    """Raises Unfit, or returns what there is to say about the wheel, which is unpacked in the folder, as lines."""
    grafted = {path.name for path in folder.glob("libpubsub.libs/*")}
    binaries = binaries_in(folder)
    found = [problem for binary in binaries for problem in problems_of(binary, folder, grafted)]
    names = {binary.path.name.split(".")[0] for binary in binaries}
    found += [f"{name} is missing" for name in ("_core", "pubsub", "pubsub-bench") if name not in names]
    python, abi, platforms = wheel.stem.split("-")[-3:]
    core = only(folder.glob("libpubsub/_core.*.so"), "extension")
    if python != abi or f"-{python[2:]}-" not in core.name:
        found.append(f"the tag says {python}-{abi}, and the extension is {core.name}")
    newest = max(binary.newest_glibc() for binary in binaries)
    allowed = min(tuple(map(int, each)) for each in re.findall(r"manylinux_(\d+)_(\d+)_", platforms) or [(0, 0)])
    if newest > allowed:
        found.append(f"the tag {platforms} is not true: symbols of glibc {'.'.join(map(str, newest))} are in use")
    if found:
        raise Unfit("; ".join(found))
    return [f"inside: {', '.join(sorted(grafted))}",
            f"wanted: glibc {'.'.join(map(str, newest))} or later, and "
            + ", ".join(sorted({each for binary in binaries for each in binary.needed} - grafted))]


def unpack(wheel, scratch):
    run("wheel", "unpack", "--dest", scratch / "unpacked", wheel)
    return only((scratch / "unpacked").iterdir(), "folder in the wheel")


def look_at(wheel):
    with tempfile.TemporaryDirectory() as scratch:
        return wheel, check(unpack(wheel, Path(scratch)), wheel)


def list_licences(folder):
    """Lets the package's metadata name every file of its folder of licences."""
    metadata = folder.parent / "METADATA"
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = "".join(f"License-File: {name}\n" for name in names)
    text = re.sub(r"^License-File: .*\n", "", metadata.read_text(encoding="utf-8"), flags=re.M)
    metadata.write_text(re.sub(r"^License-Expression: .*\n", rf"\g<0>{lines}", text, count=1, flags=re.M), encoding="utf-8")


def finish(source, target):
    """The finished wheel, and lines about it."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        run("auditwheel", "repair", "--strip", "--wheel-dir", scratch / "repaired", source)
        repaired = only((scratch / "repaired").glob("*.whl"), "repaired wheel")
        folder = unpack(repaired, scratch)
        grafted = [path.name for path in folder.glob("libpubsub.libs/*")]
        licences = only(folder.glob("*.dist-info/licenses"), "folder of licences")
        for own in ("LICENSE", "pybind11-*/LICENSE"):
            only(licences.glob(own), f"licence text {own}")
        core = Binary(only(folder.glob("libpubsub/_core.*.so"), "extension"))
        notices = third_party.notices(grafted, with_standard_library="libstdc++.so.6" not in core.needed)
        (licences / "THIRD_PARTY_LICENSES").write_text(notices, encoding="utf-8")
        list_licences(licences)
        lines = check(folder, repaired)
        target.mkdir(parents=True, exist_ok=True)
        run("wheel", "pack", "--dest-dir", target, folder)
        return target / repaired.name, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="as `pip wheel` has built it")
    parser.add_argument("folder", type=Path, nargs="?", help="where the finished wheel goes")
    arguments = parser.parse_args()
    try:
        finished, lines = finish(arguments.wheel, arguments.folder) if arguments.folder else look_at(arguments.wheel)
    except (Unfit, third_party.Unknown) as failure:
        sys.exit(f"finish_wheel: {arguments.wheel.name} cannot be given away: {failure}")
    print(f"{finished.name}: {finished.stat().st_size / 1e6:.1f} MB", *lines, sep="\n  ")


if __name__ == "__main__":
    main()
