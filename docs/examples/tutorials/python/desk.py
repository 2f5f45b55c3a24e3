"""Shows the alerts that come over the relay."""

import libpubsub

with libpubsub.Endpoint() as endpoint:
    subscriber = endpoint.make_subscriber("/alerts/")
    endpoint.peer("tcp://127.0.0.1:9999")
    for message in subscriber:
        what, source, ports = message.data
        print(f"{message.topic}: {what} from {source}, {ports} ports")
        if message.topic == "/alerts/end":
            break
