# SPDX-License-Identifier: BSD-3-Clause
"""docs/monitoring: rules and dashboard ask for metrics that there are; Prometheus itself agrees, where it is installed."""

import contextlib
import http.server
import json
import re
import shutil
import socket
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest
from conftest import DEADLINE, ROOT, wait_until

import libpubsub

FOLDER = ROOT / "docs/monitoring"
RULES = (FOLDER / "alerts.yml").read_text(encoding="utf-8")

needs_prometheus = pytest.mark.skipif(None in (shutil.which("promtool"), shutil.which("prometheus")),
                                      reason="Prometheus is not installed (Debian: prometheus)")


def expressions():
    """Those of the dashboard, as it sends them."""
    board = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(found) > 20
    return [each.replace("$instance", ".*").replace("$__rate_interval", "10s") for each in found]


def get(address):
    with urllib.request.urlopen(address, timeout=DEADLINE) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def node(command, *options):
    """A node with metrics: its address as a peer, and that of its metrics."""
    process = subprocess.Popen([command, "node", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--json", *options],
                               stdout=subprocess.PIPE, text=True)
    try:
        events = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [each["event"] for each in events] == ["listening", "metrics"]
        yield events[0]["address"], events[1]["address"]
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def served(endpoint):
    """The metrics of an endpoint over HTTP; the address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = endpoint.metrics_text().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_every_metric_of_rules_and_dashboard_exists_and_the_docs_name_all(pubsub_command):
    with node(pubsub_command) as (_, metrics):
        told = set(re.findall(r"^# TYPE (\S+)", get(metrics + "metrics"), re.M))
    asked = set(re.findall(r"\b(?:pubsub|process)_\w+", " ".join([RULES, *expressions()])))
    assert asked - told == {"pubsub_certificate_expiry_timestamp_seconds"}  # told by nodes that have one
    page = (ROOT / "docs/monitoring.md").read_text(encoding="utf-8")
    assert {name for name in told if f"`{name}`" not in page} == set()


def promtool(*arguments, **options):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


@needs_prometheus
def test_promtool_finds_metrics_rules_and_configuration_clean(pubsub_command):
    with node(pubsub_command) as (address, metrics), libpubsub.Endpoint() as peer, peer.make_subscriber('a"\\\n') as _:
        peer.peer(address)
        promtool("check", "metrics", input=get(metrics + "metrics"))
        promtool("check", "metrics", input=peer.metrics_text())
    promtool("check", "rules", FOLDER / "alerts.yml")
    promtool("test", "rules", FOLDER / "alerts_test.yml")
    promtool("check", "config", FOLDER / "prometheus.yml")


@needs_prometheus
def test_prometheus_answers_every_question_of_the_dashboard(pubsub_command, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        web = f"127.0.0.1:{free.getsockname()[1]}"
    with node(pubsub_command) as (address, metrics), libpubsub.Endpoint() as peer, served(peer) as own, \
            peer.make_subscriber("/t") as sub:
        peer.peer(address)
        targets = [urllib.parse.urlsplit(each).netloc for each in (metrics, own)]
        (tmp_path / "alerts.yml").write_text(RULES)
        (tmp_path / "prometheus.yml").write_text((FOLDER / "prometheus.yml").read_text().replace("15s", "1s")
                                                 .replace('["127.0.0.1:9464"]', json.dumps(targets)))
        server = subprocess.Popen(["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
                                   f"--web.listen-address={web}", "--log.level=error"], stderr=subprocess.PIPE, text=True)
        try:
            check_answers(web, peer, sub)
        finally:
            server.kill()
            _, said = server.communicate()
    assert said == ""  # no sample was refused


def check_answers(web, endpoint, subscriber):
    def ask(question):
        answers = []

        def answered():
            with contextlib.suppress(OSError):  # until the server listens
                address = f"http://{web}/api/v1/query?" + urllib.parse.urlencode({"query": question})
                answers.append(json.loads(get(address))["data"]["result"])
            return answers

        wait_until(answered, 30)
        return answers[0]

    def has_begun():
        endpoint.publish("/t", 1)
        subscriber.get(DEADLINE)
        return ask("rate(pubsub_published_messages_total[10s]) > 0") and len(ask('count_over_time(up{job="pubsub"}[10s]) > 2')) == 2

    wait_until(has_begun, 60)
    assert [each for each in expressions() if not ask(each)] == []
    rules = json.loads(get(f"http://{web}/api/v1/rules"))["data"]["groups"][0]["rules"]
    assert len(rules) > 10 and [each["name"] for each in rules if each["health"] == "err"] == []
