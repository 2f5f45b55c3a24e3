"""Says hello to a network over Zeek's WebSocket API, and shows the first event that comes."""

import json

from websockets.sync.client import connect


def value(kind, data):
    return {"@data-type": kind, "data": data}


hello = {"type": "data-message", "topic": "my/questions", "@data-type": "vector", "data": [
    value("count", 1), value("count", 1),
    value("vector", [value("string", "My::hello"), value("vector", [value("string", "Joe")])])]}

with connect("ws://127.0.0.1:27759/v1/messages/json") as server:
    server.send(json.dumps(["my/answers"]))  # what to subscribe to, once
    print(json.loads(server.recv())["type"])  # ack
    server.send(json.dumps(hello))
    event = json.loads(server.recv())
    print(event["topic"], event["data"][2]["data"][0]["data"])
