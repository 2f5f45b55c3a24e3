# SPDX-License-Identifier: BSD-3-Clause
"""The README shows the programs in docs/examples/quick, which other tests run, and names what exists."""
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.M | re.S)


@pytest.mark.parametrize("language, file", [("cpp", "quick.cpp"), ("python", "quick.py")])
def test_the_readme_shows_the_example_word_for_word(language: str, file: str) -> None:
    shown = [text for kind, text in BLOCKS if kind == language]
    assert shown == [(ROOT / "docs/examples/quick" / file).read_text(encoding="utf-8")]


def test_every_file_the_readme_names_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    folders = re.findall(r"^\| `([^`]+)` \|", README, re.M)
    commands = re.findall(r"^(tools/\w+)", "\n".join(text for kind, text in BLOCKS if kind == "sh"), re.M)
    assert links and folders and len(commands) == 3
    assert [name for name in links + folders + commands if not (ROOT / name).exists()] == []


def test_every_shell_command_in_the_readme_is_accepted() -> None:
    """Each `pubsub ...` line names a subcommand and options that its --help knows."""
    lines = [line.split("#")[0].split() for kind, text in BLOCKS if kind == "sh"
             for line in text.splitlines() if line.startswith("pubsub ")]
    assert lines
    for _, subcommand, *rest in lines:
        known = subprocess.run(["pubsub", subcommand, "--help"], capture_output=True, text=True,
                               timeout=60, check=True).stdout
        assert [word for word in rest if word.startswith("--") and word not in known] == []
