import sys
from collections import Counter

from libpubsub import record

with record.Reader(sys.argv[1], topics=["zeek/records/"]) as reader:
    publishers = Counter(message.origin[0] if message.origin else "unknown" for message in reader)
for publisher, messages in publishers.most_common():
    print(f"{publisher}: {messages} messages")
if reader.damage:
    print("the recording is not whole:", reader.damage)
