# @TEST-DOC: Two WebSocket clients, of different nodes, exchange events with each other and with the nodes.
# @TEST-REQUIRES: ${PYTHON:-python3} -c 'import websockets.sync.client'
# @TEST-PORT: MANAGER_PORT
# @TEST-PORT: WEBSOCKET_PORT
# @TEST-PORT: WEBSOCKET2_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager WS_PORT=$WEBSOCKET_PORT zeek -b ../node.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 WS_PORT=$WEBSOCKET2_PORT zeek -b ../node.zeek >out"
# @TEST-EXEC: btest-bg-run clients "${PYTHON:-python3} ../clients.py ${WEBSOCKET_PORT%/tcp} ${WEBSOCKET2_PORT%/tcp} >out"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: TEST_DIFF_CANONIFIER=sort btest-diff manager/out
# @TEST-EXEC: TEST_DIFF_CANONIFIER=sort btest-diff worker-1/out
# @TEST-EXEC: btest-diff clients/out

# @TEST-START-FILE node.zeek
@load ./bootstrap
global said: event(who: string, what: string) &is_used;
global finish: event() &is_used;

event zeek_init() &priority=-10
	{
	Cluster::subscribe("chat");
	Cluster::listen_websocket([$listen_addr=127.0.0.1, $listen_port=to_port(getenv("WS_PORT"))]);
	}

event said(who: string, what: string)
	{
	print who, what;
	Cluster::publish("answers", said, Cluster::node, what);
	}

event finish()
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE clients.py
import contextlib
import json
import sys
import time

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect


def text(value):
    return {"@data-type": "string", "data": value}


def event(topic, name, *args):
    parts = [{"@data-type": "count", "data": 1}, {"@data-type": "count", "data": 1},
             {"@data-type": "vector", "data": [text(name), {"@data-type": "vector", "data": list(args)}]}]
    return json.dumps({"type": "data-message", "topic": topic, "@data-type": "vector", "data": parts})


def client(port, topics):
    for _ in range(200):
        try:
            result = everything.enter_context(connect(f"ws://127.0.0.1:{port}/v1/messages/json"))
            break
        except (OSError, WebSocketException):
            time.sleep(0.1)
    result.send(json.dumps(topics))
    assert json.loads(result.recv(timeout=20))["type"] == "ack"
    return result


def read(source, n):
    got = []
    for _ in range(n):
        message = json.loads(source.recv(timeout=20))
        name, args = message["data"][2]["data"][:2]
        got.append((message["topic"], name["data"], *(each["data"] for each in args["data"])))
    return sorted(got)


with contextlib.ExitStack() as everything:
    first = client(sys.argv[1], ["answers", "talk"])
    second = client(sys.argv[2], ["answers", "talk"])
    first.send(event("chat", "said", text("first"), text("to all nodes")))
    for each in (first, second):
        print(*read(each, 2), sep="\n")
    second.send(event("talk", "said", text("second"), text("to clients")))
    print(*read(first, 1))
    first.send(event("chat", "finish"))
# @TEST-END-FILE
