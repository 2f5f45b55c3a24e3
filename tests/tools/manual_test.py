# SPDX-License-Identifier: BSD-3-Clause
"""The manual says what the help says, and is well formed."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from command import CommandTest

INDENTED = r"\n((?:  .*\n| {20}.*\n)+)"  # items, and the lines that they go on in


def items_below(heading, help_text):
    """The first words of the indented lines below a heading."""
    found = re.search(rf"^{heading}:{INDENTED}", help_text, re.M)
    return re.findall(r"^  (\S+)", found[1], re.M) if found else []


class Manual(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)

    def setUp(self):
        if not any(self.folder.iterdir()):
            for command in (["manual"], ["bench", "manual"]):
                self.assertEqual(self.run_command(*command, self.folder), (0, "", ""))

    def help(self, *command):
        status, out, _ = self.run_command(*command, "--help")
        self.assertEqual(status, 0, command)
        return out

    def all_commands(self, above=()):
        """Each command that some help shows, with what that help says of it."""
        text = self.help(*above)
        yield above, text
        for name in items_below("Subcommands", text):
            yield from self.all_commands((*above, name))

    def page(self, *command):
        return self.folder / "man1" / ("-".join(["pubsub", *command]) + ".1")

    def plain(self, path):
        """The text of a page without what is roff's."""
        text = re.sub(r"\\f[BIR]", "", path.read_text(encoding="utf-8"))
        return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\(ti", "~").replace("\\(ha", "^").replace("\\e", "\\")

    def test_each_command_has_a_page_and_each_page_a_command(self):
        expected = {self.page(*command).name for command, _ in self.all_commands()}
        self.assertEqual({path.name for path in (self.folder / "man1").iterdir()}, expected)
        self.assertLessEqual({"pubsub.1", "pubsub-node.1", "pubsub-bench.1", "pubsub-bench-chain.1"}, expected)

    def test_a_page_has_the_options_and_examples_of_the_help(self):
        for command, text in self.all_commands():
            page = self.plain(self.page(*command))
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M):
                self.assertRegex(page, rf"\n\.TP\n(-\w, )?{option}( .*)?\n", f"{command}: {option}")
            examples = re.findall(r"^  (?:pubsub|echo|source) .*", text, re.M)
            for line in examples:
                self.assertIn(line, page)
            self.assertEqual("Examples" in text, ".SH EXAMPLES" in page, command)
            self.assertIn("\n.SH EXIT STATUS\n.TP\n0\n", page)

    def test_how_conditions_are_written_is_a_section_by_itself(self):
        for command, text in self.all_commands():
            page = self.plain(self.page(*command))
            self.assertEqual("\nConditions:\n" in text, "\n.SH CONDITIONS\n.nf\n  fields " in page, command)
            self.assertNotIn("Conditions:", page)
        self.assertIn(".SH CONDITIONS", self.page("record").read_text(encoding="utf-8"))

    def test_what_an_option_may_be_is_told(self):
        page = self.plain(self.page("node"))
        self.assertRegex(page, r"\.TP\n--link-policy block\|drop-oldest\|drop-newest\|conflate\|disconnect\n")
        self.assertRegex(page, r"\.TP\n--wire-version NUMBER\n.*From 1 to 2\. The default is 2\.\n")
        self.assertRegex(page, r"\.TP\n--max-peers NUMBER\n.*More than 0\. The default is \d+\.\n")
        self.assertIn("Not together with --passphrase.", page)
        self.assertRegex(page, r"\.SH SIGNALS\nSIGHUP")

    def test_the_page_of_the_configuration_file_has_every_key(self):
        text = (self.folder / "man5/pubsub-node.toml.5").read_text(encoding="utf-8")
        keys = {key.replace("_", "-") for key in re.findall(r"^\\fB(\w+)\\fR = ", text, re.M)}
        options = set(re.findall(r"^  (?:-\w,)?--([\w-]+)", self.help("node"), re.M))
        self.assertEqual(keys, options - {"help", "config", "check", "dry-run"})
        self.assertRegex(self.plain(self.folder / "man5/pubsub-node.toml.5"), r'\nlisten = \["ADDRESS", \.\.\.\]\n')

    def test_the_example_of_a_configuration_file_is_one(self):
        page = self.plain(self.folder / "man5/pubsub-node.toml.5")
        path = self.folder / "node.toml"
        path.write_text(re.search(r"\.SH EXAMPLE\n\.nf\n(.*?)\.fi", page, re.S)[1], encoding="utf-8")
        self.assertEqual(self.run_command("node", "--config", path, "--check"), (0, "all is well\n", ""))

    def test_a_folder_that_cannot_be_written_is_named(self):
        status, _, err = self.run_command("manual", "/dev/null/manual")
        self.assertEqual(status, 1)
        self.assertIn("/dev/null/manual/man1/pubsub.1", err)

    def check_with(self, *command):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        pages = sorted(self.folder.glob("man?/*"))
        self.assertLess(20, len(pages))
        done = subprocess.run([*command, *pages], capture_output=True, text=True, timeout=60)
        return [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]

    def test_groff_warns_of_nothing(self):
        self.assertEqual(self.check_with("groff", "-man", "-ww", "-z", "-Tutf8"), [])

    def test_mandoc_warns_of_nothing_but_the_missing_date(self):
        # Without a date the same program always writes the same page.
        self.assertEqual(self.check_with("mandoc", "-T", "lint", "-W", "warning"), [])


if __name__ == "__main__":
    unittest.main()
