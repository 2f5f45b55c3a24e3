"""The engine finds the faults of planted.cpp, keeps the inputs, and says where. Takes the program."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(*arguments):
    return subprocess.run([str(each) for each in arguments], check=False, text=True, capture_output=True, timeout=120)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        found = run(program, "--seconds", 20, "--findings", folder)
        assert found.returncode == 1, found
        path = Path(re.search(r"the input: (.*)", found.stdout)[1])
        assert path.parent == Path(folder) and path.read_bytes().startswith(b"check"), path
        assert "nothing follows" in found.stderr, found
        assert run(program, path).returncode != 0
        for text, good in (("check", True), ("beyond", False), ("memory", False), ("beyon", True)):
            case = Path(folder) / "case"
            case.write_text(text)
            assert (run(program, case).returncode == 0) == good, text
    assert run(program, "--seconds", "x").returncode == 2
    assert run(program, "--nonsense", "1").returncode == 2


if __name__ == "__main__":
    main(sys.argv[1])
