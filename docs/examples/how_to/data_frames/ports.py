"""Says to which ports most was sent, of the next 2727 connections. Usage: python ports.py HOST:PORT"""

import sys

import libpubsub

with libpubsub.Endpoint() as endpoint:
    endpoint.peer(f"tcp://{sys.argv[1]}")
    with endpoint.make_subscriber("zeek/records/conn") as subscriber:
        print("waiting", flush=True)
        table = libpubsub.to_arrow(subscriber, max_rows=2727, timeout=60)

print(f"{table.num_rows} rows; ts is {table.schema.field('ts').type}, id.resp_p {table.schema.field('id.resp_p').type}")
sums = table.group_by("id.resp_p").aggregate([("orig_bytes", "sum")]).sort_by([("orig_bytes_sum", "descending")])
for row in sums.slice(0, 3).to_pylist():
    print(row["id.resp_p"], row["orig_bytes_sum"])
