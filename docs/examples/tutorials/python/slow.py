"""A reader that is slower than its publisher, and what it lost."""

import libpubsub

with libpubsub.Endpoint() as endpoint:
    with endpoint.make_subscriber("/ticks", capacity=10, policy="drop_oldest") as subscriber:
        for number in range(100):
            endpoint.publish("/ticks", number)

        read = [message.data for message in subscriber.poll()]
        print("read:", read)

        counters = subscriber.counters()
        print("offered:", counters.offered)
        print("delivered:", counters.delivered)
        print("dropped:", counters.dropped_oldest)
