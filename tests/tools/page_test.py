# SPDX-License-Identifier: BSD-3-Clause
"""The status page of a node in a real browser: what an operator sees there, also on a phone."""

import json
import os
import re
import unittest
import urllib.request

from browser import Browser, find_chromium
from command import CommandTest

PICTURES = os.environ.get("PUBSUB_PAGE_PICTURES")  # a folder, for people who want to look

NODE = "document.querySelector('#picture .node[data-id=\"%s\"]')"


def get(address):
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode()


@unittest.skipIf(find_chromium() is None, "no Chromium is installed (Debian: chromium)")
class PageTest(CommandTest):
    def node(self, *options):
        process = self.start("node", "--listen", "127.0.0.1:0", *options)
        process.address = f"127.0.0.1:{process.port()}"
        return process

    def watched(self, *peers):
        """A node with a page, which connects to others; and the page's address."""
        node = self.node("--metrics", "127.0.0.1:0", *(x for peer in peers for x in ("--peer", peer.address)))
        return node, node.wait_for_line(r"status page on (http://\S+)")[1]

    def browse(self, address):
        browser = Browser()
        self.addCleanup(browser.close)
        browser.look_like(1280, 900)
        browser.open(address)
        return browser

    def keep(self, browser, name):
        if PICTURES:
            browser.picture(os.path.join(PICTURES, name + ".png"))

    def id_of(self, address, peer):
        """The id of a peer of the node with this page, once they are connected."""
        for _ in range(2000):
            for each in json.loads(get(address + "status"))["peers"]:
                if each["address"] == peer.address and each["state"] == "peered":
                    return each["id"]
        self.fail(f"{peer.address} is not connected")

    def test_three_nodes_are_seen_and_one_that_stops_turns_red(self):
        first, second = self.node(), self.node()
        _, address = self.watched(first, second)
        ids = [self.id_of(address, each) for each in (first, second)]
        browser = self.browse(address)
        for each in ids:
            browser.wait_for((NODE % each) + "?.dataset.state === 'peered'")
        self.assertEqual(browser.run("document.querySelectorAll('#picture .edge.link.peered').length"), 2)
        self.assertEqual(browser.run("document.querySelectorAll('#links-table tbody tr').length"), 2)
        calm = browser.run(f"getComputedStyle({NODE % ids[0]}.querySelector('.body')).stroke")
        first.kill()
        browser.wait_for((NODE % ids[0]) + "?.dataset.state === 'lost'")
        red = browser.run("getComputedStyle(document.querySelector('#links-table td.bad')).color")
        self.assertEqual(browser.run(f"getComputedStyle({NODE % ids[0]}.querySelector('.body')).stroke"), red)
        self.assertNotEqual(calm, red)
        self.assertIn("lost", browser.run(f"document.querySelector('#links-table tr[data-key=\"{ids[0]}\"]').innerText"))
        self.assertIn(f"({first.address}) is lost", browser.run("document.querySelector('#log').innerText"))
        self.assertTrue(browser.run("document.title").startswith("(!) pubsub "))
        self.keep(browser, "lost")
        second.kill()  # now it has no peer that it connects to
        browser.wait_for("document.querySelector('#ready').innerText.startsWith('not ready: none of the peers')")
        self.assertEqual(browser.problems, [])

    def test_messages_move_and_show_as_rates_and_in_the_details(self):
        relay = self.node()
        node, address = self.watched(relay)
        self.start("sub", "--peer", relay.address, "--topic", "/t", "--text")
        self.start("ping", "--peer", relay.address, "--echo")
        self.start("ping", "--peer", node.address, "--count", "100000000")
        key = self.id_of(address, relay)
        browser = self.browse(address)
        browser.wait_for(f"/^out [1-9].*in [1-9]/.test({NODE % key}?.querySelector('.sub')?.textContent)")
        browser.wait_for("document.querySelectorAll('.flow.out[visibility=visible]').length >= 1")
        browser.wait_for("parseFloat(document.querySelector('#tile-received .value').textContent) > 0")
        browser.click(f"#picture .node[data-id='{key}']")
        browser.wait_for(f"document.querySelector('#details-body').innerText.includes('{key}')")
        self.assertIn("queue", browser.run("document.querySelector('#details-body').innerText"))
        browser.press("Escape")
        browser.wait_for("document.querySelector('#details-title').textContent === 'This node'")
        self.keep(browser, "busy")
        self.assertEqual(browser.problems, [])

    def test_a_node_far_away_tells_its_rates_and_links(self):
        far = self.node("--name", "far")
        relay = self.node("--peer", far.address)
        node, address = self.watched(relay)
        self.start("ping", "--peer", far.address, "--echo")
        self.start("ping", "--peer", node.address, "--count", "100000000")
        browser = self.browse(address)
        by_name = "[...document.querySelectorAll('#picture .node')].find((x) => x.getAttribute('aria-label').startsWith('relay far'))"
        browser.wait_for(f"{by_name} !== undefined")
        key = browser.run(f"{by_name}.dataset.id")
        browser.click(f"#picture .node[data-id='{key}']")
        told = "document.querySelector('#details-body').innerText"
        browser.wait_for(f"/received\\s+[1-9][\\d.]*( k)?\\/s/.test({told})")
        browser.wait_for(f"/Its links: 2/.test({told}) && /out [1-9]/.test({told})")
        self.keep(browser, "far")
        relay.kill()  # no way leads to the node far away any more
        browser.wait_for(f"{NODE % key}.dataset.state === 'unreachable'")
        self.assertEqual(browser.problems, [])

    def test_the_keyboard_reaches_every_node_and_the_table_does_the_same(self):
        relay = self.node()
        _, address = self.watched(relay)
        key = self.id_of(address, relay)
        browser = self.browse(address)
        browser.wait_for((NODE % key) + " !== null")
        browser.run("document.querySelector('#picture .node.self').focus()")
        browser.press("ArrowRight")
        self.assertEqual(browser.run("document.activeElement.dataset.id"), key)
        self.assertRegex(browser.run("document.activeElement.getAttribute('aria-label')"), r"^relay \S+, connected$")
        browser.press("Enter")
        browser.wait_for(f"{NODE % key}.getAttribute('aria-pressed') === 'true'")
        browser.press("Escape")
        browser.wait_for(f"{NODE % key}.getAttribute('aria-pressed') === 'false'")
        browser.click("#links-table button")
        browser.wait_for(f"{NODE % key}.getAttribute('aria-pressed') === 'true'")
        self.assertEqual(browser.problems, [])

    def test_clients_are_one_node_that_can_be_opened_and_names_are_no_markup(self):
        node, address = self.watched()
        evil = "<img src=x onerror=\"document.title='evil'\">"
        for i in range(13):
            self.start("sub", "--peer", node.address, "--topic", evil if i else evil + "<script>alert(1)</script>")
        browser = self.browse(address)
        browser.wait_for("document.querySelector('.node.clients .count')?.textContent === '13'")
        self.keep(browser, "clients")
        browser.click("#clients")
        browser.wait_for("document.querySelectorAll('.node.client').length === 13")
        browser.click("#links-table button")
        browser.wait_for("document.querySelector('#details-body').innerText.includes('<img src=x')")
        self.assertEqual(browser.run("document.querySelectorAll('img, #details script').length"), 0)
        self.assertRegex(browser.run("document.title"), r"^pubsub \S+$")
        self.assertEqual(browser.problems, [])

    def test_it_fits_a_phone_in_light_and_dark(self):
        relay, other = self.node(), self.node()
        _, address = self.watched(relay, other)
        browser = self.browse(address)
        for dark in (False, True):
            browser.look_like(390, 844, dark=dark, phone=True)
            browser.wait_for("document.querySelectorAll('#picture .node.relay').length === 2 && innerWidth === 390")
            browser.wait_for("document.documentElement.scrollWidth <= 390")
            self.assertGreater(self.contrast(browser), 4.5)
            self.keep(browser, "phone-dark" if dark else "phone")
        self.assertEqual(browser.problems, [])

    def contrast(self, browser):
        """The least contrast of a kind of text with what it stands on (WCAG 2)."""
        def brightness(text):
            red, green, blue = (int(x) / 255 for x in re.findall(r"\d+", text)[:3])
            linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (red, green, blue)]
            return sum(x * weight for x, weight in zip(linear, (0.2126, 0.7152, 0.0722)))

        found = []
        for ink, ground in (("#facts", "body"), ("#census", ".card"), ("#ready", "#ready"), ("#links-table td.good", ".card"),
                            ("#links-table button", ".card"), (".tile .name", ".tile")):
            pair = sorted(brightness(browser.run(f"getComputedStyle(document.querySelector('{which}')).{what}"))
                          for which, what in ((ink, "color"), (ground, "backgroundColor")))
            found.append((pair[1] + 0.05) / (pair[0] + 0.05))
        return min(found)

    def test_it_says_when_the_node_does_not_answer_and_goes_on_when_it_does(self):
        node, address = self.watched()
        browser = self.browse(address)
        browser.wait_for("document.querySelector('#live').textContent === 'live'")
        node.kill()
        browser.wait_for("document.body.classList.contains('stale')")
        self.start("node", "--listen", "127.0.0.1:0", "--metrics", address)
        browser.wait_for("document.querySelector('#live').textContent === 'live'")
        self.assertIn("started again", browser.run("document.querySelector('#log').innerText"))


if __name__ == "__main__":
    unittest.main()
