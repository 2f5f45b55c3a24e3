"""Prints the notices of a Zeek cluster as they come: follow_notices.py URI"""

import asyncio
import sys

from libpubsub import zeek


async def follow(uri):
    with zeek.connect(uri) as cluster:
        async for event in cluster.events("site/notices"):
            node, note, message = event.args
            print(f"{node}: {note}: {message}", flush=True)


asyncio.run(follow(sys.argv[1]))
