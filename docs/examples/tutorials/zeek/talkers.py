"""Who has sent most, in the first thousand connections that arrive."""

from collections import Counter
from itertools import islice

import libpubsub
from libpubsub.zeek import RecordReader

with libpubsub.Endpoint() as endpoint:
    subscriber = endpoint.make_subscriber("zeek/records/conn")
    endpoint.peer("tcp://127.0.0.1:9999")

    sent = Counter()
    for path, record in islice(RecordReader(subscriber), 1000):
        sent[record["id.orig_h"]] += record["orig_bytes"] or 0

for host, size in sent.most_common(3):
    print(host, size)
