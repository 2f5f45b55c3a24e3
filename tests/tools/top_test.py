# SPDX-License-Identifier: BSD-3-Clause
"""`pubsub top`: the network in tables, in JSON and on the screen of a terminal."""

import json
import os
import signal
import unittest
from pathlib import Path

from command import NO_JSON, CommandTest
from terminal import Terminal

BOLD, REVERSE, RED = 1, 7, 31


@unittest.skipIf(NO_JSON, "reading a status needs the JSON reader")
class TopTest(CommandTest):
    def node(self, name, *peers, options=()):
        node = self.start("node", "--listen", "127.0.0.1:0", "--name", name, *options,
                          *(x for peer in peers for x in ("--peer", peer.address)))
        node.address = f"127.0.0.1:{node.port()}"
        return node

    def chain(self):
        """Three relays in a row."""
        first = self.node("relay-1")
        second = self.node("relay-2", first)
        return first, second, self.node("relay-3", second)

    def traffic(self, here, there):
        """Messages all the time, forth and back between two nodes, for a topic each."""
        self.start("ping", "--peer", there.address, "--echo")
        self.start("ping", "--peer", here.address, "--count", "100000000")

    def top(self, node, *options, **terminal):
        program = Terminal("top", node.address, "--interval", "0.2", *options, **terminal)
        self.addCleanup(program.close)
        return program

    def objects(self, node, *options):
        """What `top --json` prints, one object after the other."""
        program = self.start("top", node.address, "--json", "--interval", "0.1", *options)
        try:
            while True:
                yield json.loads(program.wait_for_line(r"^{.*}$")[0])
        finally:
            program.kill()
            program.finish()

    def wait_for_nodes(self, node, names):
        for shown in self.objects(node):
            nodes = {each["name"]: each for each in shown["nodes"]}
            if set(nodes) == set(names) and all(each["state"] == "ok" for each in nodes.values()):
                return nodes

    def end(self, program):
        program.child.terminate()
        self.assertEqual(program.finish(), 0)

    # -- without a terminal --

    def test_one_table_has_all_nodes_whichever_is_asked(self):
        nodes = self.chain()
        self.wait_for_nodes(nodes[0], ("relay-1", "relay-2", "relay-3"))
        for node in nodes:
            code, out, err = self.run_command("top", node.address, "--once", "--interval", "0.1")
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, r"3 nodes, 0 clients, all is well\nNAME +STATE +UP ")
            for name in ("relay-1", "relay-2", "relay-3"):
                self.assertRegex(out, rf"(?m)^{name} +ok ")
            self.assertNotIn("\x1b", out)

    def test_so_many_tables_of_the_links_of_a_node_are_printed(self):
        first, second, _ = self.chain()
        self.wait_for_nodes(first, ("relay-1", "relay-2", "relay-3"))
        code, out, err = self.run_command("top", first.address, "--batch", "3", "--interval", "0.1", "--view", "links",
                                          "--node", "relay-2", "--sort", "name")
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("\nPEER "), 3, out)
        self.assertRegex(out, r" relay-2: .*\nPEER .*\nrelay-1 .*\nrelay-3 ")
        code, out, err = self.run_command("top", first.address, "--once", "--interval", "0.1", "--view", "links",
                                          "--node", "nobody")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("no node is called 'nobody'", err)

    def test_rates_and_clients_are_in_the_objects(self):
        first, _, third = self.chain()
        self.traffic(first, third)
        for shown in self.objects(first):
            nodes = {each["name"]: each for each in shown["nodes"]}
            if len(nodes) == 3 and all(each.get("out_per_s", 0) > 0 for each in nodes.values()):
                break
        self.assertEqual(shown["schema"], 1)
        self.assertEqual([nodes[f"relay-{i}"]["clients"] for i in (1, 2, 3)], [1, 0, 1])
        self.assertGreater(nodes["relay-2"]["bytes_in_per_s"], 0)
        links = nodes["relay-2"]["links"]
        self.assertEqual({each["id"] for each in links}, {nodes["relay-1"]["id"], nodes["relay-3"]["id"]})
        self.assertTrue(all(each["in_per_s"] > 0 and each["state"] == "ok" for each in links), links)

    def test_losses_have_their_reason(self):
        node = self.node("relay-1", options=("--link-policy", "drop-newest", "--link-queue", "10"))
        stopped = self.start("sub", "--peer", node.address, "--topic", "/t")
        next(x for x in self.objects(node) if x["nodes"][0]["clients"] == 1)
        os.kill(stopped.child.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, stopped.child.pid, signal.SIGCONT)
        line = "x" * 100_000 + "\n"  # many of these fit into no buffer of a socket
        code, _, err = self.run_command("pub", "--peer", node.address, "--topic", "/t", "--text", stdin=line * 300)
        self.assertEqual(code, 0, err)
        for shown in self.objects(node):
            if losses := shown["nodes"][0]["dropped_by"]:
                break
        self.assertEqual(list(losses), ["queue full (newest)"])
        _, out, _ = self.run_command("top", node.address, "--once", "--interval", "0.1", "--view", "links")
        self.assertRegex(out, r"(?m)^\S+:\d+ .* queue full \(newest\)$")

    def test_a_node_that_is_killed_is_silent_and_stays(self):
        first, _, third = self.chain()
        self.wait_for_nodes(first, ("relay-1", "relay-2", "relay-3"))
        program = self.start("top", first.address, "--interval", "0.1", "--json")
        program.wait_for_line(r'"name":"relay-3","state":"ok"')
        third.kill()
        program.wait_for_line(r'1 not answering.*"name":"relay-3","state":"silent \d+s","uptime_s":[\d.]+,"silent_s":')
        self.end(program)

    def test_a_node_that_hangs_is_silent_and_keeps_no_other_from_being_shown(self):
        first, second, third = self.chain()
        self.wait_for_nodes(first, ("relay-1", "relay-2", "relay-3"))
        program = self.start("top", first.address, "--interval", "0.1", "--timeout", "0.3", "--json")
        program.wait_for_line(r'"name":"relay-3","state":"ok"')
        os.kill(third.child.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, third.child.pid, signal.SIGCONT)
        line = program.wait_for_line(r'.*"name":"relay-3","state":"silent.*')[0]
        states = {each["name"]: each["state"] for each in json.loads(line)["nodes"]}
        self.assertEqual((states["relay-1"], states["relay-2"]), ("ok", "ok"))
        os.kill(third.child.pid, signal.SIGCONT)
        program.wait_for_line(r'"name":"relay-3","state":"ok"')
        self.end(program)

    def test_a_node_that_does_not_tell_is_no_silent_one(self):
        first = self.node("relay-1")
        self.node("secret", first, options=("--no-status",))
        next(x for x in self.objects(first) if any(each["state"] == "tells not" for each in x["nodes"]))

    def test_where_nobody_listens_is_status_2_and_wrong_use_is_status_1(self):
        self.assertEqual(self.run_command("top", "127.0.0.1:1", "--connect-timeout", "0.2")[0], 2)
        for arguments in ([], ["127.0.0.1:1", "--sort", "nothing"], ["127.0.0.1:1", "--interval", "0"],
                          ["127.0.0.1:1", "--once", "--batch", "2"], ["127.0.0.1:1", "--view", "all"]):
            self.assertEqual(self.run_command("top", *arguments)[0], 1, arguments)

    # -- on the screen --

    def test_the_screen_shows_the_network_and_keys_lead_through_it(self):
        first, _, third = self.chain()
        self.traffic(first, third)
        top = self.top(first)
        top.wait_for(rf"^nodes - pubsub top {first.address} .* by state, every 0.2 s \d\d:\d\d:\d\d$")
        top.wait_for(r"^3 nodes, 2 clients, all is well$")
        top.wait_for(r"^relay-2 +ok +0 +\d")
        self.assertIn(REVERSE, top.screen.styles_of("relay-1  "))
        top.press("\x1b[B")
        top.wait_for(r"^relay-2 [0-9a-f]{8}-[0-9a-f-]+, version ")
        top.press("\r")
        top.wait_for(r"links of relay-2 ")
        top.wait_for(r"^relay-1 +ok +\S+ +[1-9]")
        top.press("j\r")
        top.wait_for(r"links of relay-3 ")
        top.wait_for(r"^1 client +ok ")
        top.press("\t")
        top.wait_for(r"subscribers of relay-3 ")
        top.press("n/3")
        top.wait_for(r"^only names that contain: 3_")
        top.wait_for(r"^nodes - .*\n.*\n.*\nrelay-3 .*\n\n")
        top.press("\x1b")
        top.wait_for(r"^relay-1 ")
        top.press("s")
        top.wait_for(r" by clients,")
        top.press("?")
        top.wait_for(r"keys and columns")
        top.press(" p")
        top.wait_for(r"PAUSED")
        top.press("pq")
        self.assertEqual(top.finish(), 0)
        self.assertTrue(top.restored())

    def test_a_killed_node_turns_red_and_comes_first(self):
        first, _, third = self.chain()
        top = self.top(first)
        top.wait_for(r"^relay-3 +ok ")
        third.kill()
        top.wait_for(r"STATE.*\nrelay-3 +silent \d+s ")
        self.assertIn(RED, top.screen.styles_of("relay-3 "))
        self.assertIn(RED, top.screen.styles_of("3 nodes, 0 clients, 1 not answering"))
        top.press("x")
        top.wait_for(r"STATE.*\nrelay-1 +ok ")

    def test_the_node_that_is_asked_may_start_again(self):
        first = self.node("relay-1")
        top = self.top(first, "--timeout", "0.5")
        top.wait_for(r"^relay-1 +ok ")
        first.kill()
        top.wait_for(r"^relay-1 +silent ")
        self.start("node", "--listen", first.address, "--name", "relay-1-again")
        top.wait_for(r"^relay-1-again +ok ")
        top.wait_for(r"^relay-1 +silent ")

    def test_it_follows_the_size_of_the_terminal(self):
        first, *_ = self.chain()
        top = self.top(first)
        top.wait_for(r"^relay-3 +ok ")
        self.assertNotIn(" UP ", top.screen.text())
        top.resize(120, 40)
        top.wait_for(r"^NAME .* UP ")
        top.wait_for(r"^relay-3 +ok ")
        self.assertTrue(top.screen.text().splitlines()[-1].startswith("enter links"))
        self.assertEqual(len(top.screen.text().splitlines()), 40)

    def test_signals_end_it_and_restore_the_terminal(self):
        node = self.node("relay-1")
        for end in (lambda x: x.press("\x03"), lambda x: x.child.send_signal(signal.SIGTERM),
                    lambda x: x.child.send_signal(signal.SIGINT)):
            top = self.top(node)
            top.wait_for(r"^relay-1 +ok ")
            self.assertFalse(top.restored())
            end(top)
            self.assertEqual(top.finish(), 0)
            self.assertTrue(top.restored())

    def test_it_can_be_suspended(self):
        top = self.top(self.node("relay-1"))
        top.wait_for(r"^relay-1 +ok ")
        top.child.send_signal(signal.SIGTSTP)
        stat = Path(f"/proc/{top.child.pid}/stat")
        top.wait_until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "it stops")
        top.wait_until(top.restored, "as before")
        top.child.send_signal(signal.SIGCONT)
        top.wait_for(r"^relay-1 +ok ")
        top.press("q")
        self.assertEqual(top.finish(), 0)

    def test_without_colours_nothing_is_coloured(self):
        first, _, third = self.chain()
        top = self.top(first, env={"NO_COLOR": "1"})
        top.wait_for(r"^relay-3 +ok ")
        third.kill()
        top.wait_for(r"STATE.*\nrelay-3 +silent ")
        self.assertEqual(top.screen.all_styles() - {BOLD, REVERSE}, set())

    def test_a_terminal_that_cannot_be_drawn_on_gets_tables(self):
        top = self.top(self.node("relay-1"), columns=200, env={"TERM": "dumb"})
        top.wait_for(r"^relay-1 +ok ")
        self.assertFalse(top.screen.own)
        top.child.terminate()
        self.assertEqual(top.finish(), 0)


if __name__ == "__main__":
    unittest.main()
