"""One endpoint that publishes to itself."""

import libpubsub

with libpubsub.Endpoint() as endpoint:
    subscriber = endpoint.make_subscriber("/alerts/")
    endpoint.publish("/alerts/scan", ["port scan", 1024])
    endpoint.publish("/weather", "sunny")

    topic, data = subscriber.get(timeout=10)
    print(topic, data)
    print(subscriber.get(timeout=0.1))
