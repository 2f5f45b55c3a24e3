# SPDX-License-Identifier: BSD-3-Clause
"""Recordings: MCAP files of ours, of the official writer, and what is wrong with others."""

import io
import json
import os
from datetime import datetime, timezone

import pytest
from conftest import DEADLINE

import libpubsub
from libpubsub import DecodeError, FileError, InvalidArgument, NotSupported, PubsubError, Timestamp, record


def received(n, topics=("/a", "/b/c")):
    """Messages as a subscriber gets them from another endpoint."""
    with libpubsub.Endpoint() as publisher, libpubsub.Endpoint() as endpoint:
        port = endpoint.listen("tcp://127.0.0.1:0")
        publisher.peer(f"tcp://127.0.0.1:{port}")
        with endpoint.make_subscriber("/") as subscriber:
            subscriber.wait_ready(DEADLINE)
            for i in range(n):
                publisher.publish(topics[i % len(topics)], [i, f"message {i}", 1.5])
            return publisher.id, [subscriber.get(DEADLINE) for _ in range(n)]


def read_all(path, **options):
    with record.Reader(path, **options) as reader:
        return list(reader)


def test_messages_of_a_subscriber_are_read_back_with_values_order_and_origins(tmp_path):
    path = tmp_path / "a.mcap"
    publisher, messages = received(300)
    with record.Writer(path, about={"site": "north"}) as writer:
        for message in messages:
            writer.write(message)
        assert (writer.messages, writer.files, writer.path) == (300, 1, str(path))
    found = read_all(path)
    assert [(x.topic, x.data, x.origin, x.raw) for x in found] == [(x.topic, x.data, x.origin, x.raw) for x in messages]
    assert {x.origin[0] for x in found} == {str(publisher)}
    assert all(x.encoding == "x-pubsub-bin-v1" and x.sequence == x.origin[2] for x in found)
    assert [x.log_time for x in found] == sorted(x.log_time for x in found)


def test_values_are_written_with_times_and_origins_of_the_caller(tmp_path):
    path = os.fspath(tmp_path / "a.mcap")
    first, second = Timestamp(1_700_000_000_123_456_789), datetime(2030, 1, 2, tzinfo=timezone.utc)
    origin = ("6137ee63-78b1-4027-97ab-365e61e74274", 7, (1 << 40) + 5)
    with record.Writer(path) as writer:
        writer.write_data("t", {"a": (1, 2)}, log_time=first, publish_time=Timestamp(1), origin=origin)
        writer.write_data("t\udcff", b"\xff", log_time=second)
    one, two = read_all(path)
    assert (one.topic, one.data, one.log_time, one.publish_time, one.origin, one.sequence) == (
        "t", libpubsub.decode(libpubsub.encode({"a": (1, 2)})), first, Timestamp(1), origin, origin[2])
    assert (two.topic, two.data, two.log_time, two.publish_time, two.origin) == ("t\udcff", b"\xff", second, second, None)
    assert "t" in repr(one) and "sequence=" in repr(one)


def test_a_part_is_copied_by_topic_and_time(tmp_path):
    with record.Writer(tmp_path / "a.mcap") as writer:
        for i in range(10):
            writer.write_data("even" if i % 2 == 0 else "odd", i, log_time=Timestamp(i * 10**9))
    with record.Writer(tmp_path / "b.mcap") as writer, record.Reader(
            tmp_path / "a.mcap", topics="odd", start=Timestamp(3 * 10**9), end=Timestamp(9 * 10**9)) as reader:
        for message in reader:
            writer.write(message)
    assert [(x.data, x.log_time.ns) for x in read_all(tmp_path / "b.mcap")] == [(i, i * 10**9) for i in (3, 5, 7)]


def test_a_summary_tells_what_is_in_a_file(tmp_path):
    path = tmp_path / "a.mcap"
    with record.Writer(path, about={"site": "north"}) as writer:
        writer.write_data("t", 1, log_time=Timestamp(5))
        writer.note_gap(missed=3, dropped=1)
        writer.write_data("u", 2, log_time=Timestamp(7))
    found = record.summarize(path)
    assert (found.path, found.messages, found.indexed, found.damage) == (str(path), 2, True, "")
    assert (found.first, found.last, found.about) == (Timestamp(5), Timestamp(7), {"site": "north"})
    assert found.topics == (record.TopicSummary("t", "x-pubsub-bin-v1", 1, 0), record.TopicSummary("u", "x-pubsub-bin-v1", 1, 0))
    assert [(gap.missed, gap.dropped) for gap in found.gaps] == [(3, 1)]
    assert found.file_bytes == path.stat().st_size and found.library == f"libpubsub {libpubsub.__version__}"


def test_a_file_that_breaks_off_is_read_up_to_there(tmp_path):
    path = tmp_path / "a.mcap"
    writer = record.Writer(path)
    writer.write_data("t", 1)
    writer.flush()
    writer.write_data("t", 2)
    with record.Reader(path) as reader:
        assert [x.data for x in reader] == [1]
        assert reader.damage == "the file has no end" and not reader.indexed
    writer.close()
    writer.close()
    assert [x.data for x in read_all(path)] == [1, 2]
    with pytest.raises(FileError):
        writer.write_data("t", 3)


def test_files_are_split_and_never_overwritten_by_accident(tmp_path):
    with record.Writer(tmp_path / "a.mcap", split_seconds=10) as writer:
        for i in range(3):
            writer.write_data("t", i, log_time=Timestamp(i * 10**10))
    assert sorted(x.name for x in tmp_path.iterdir()) == [f"a-000{i}.mcap" for i in (1, 2, 3)]
    with pytest.raises(FileError, match="File exists"):
        record.Writer(tmp_path / "a-0001.mcap")
    record.Writer(tmp_path / "a-0001.mcap", replace=True).close()
    assert read_all(tmp_path / "a-0001.mcap") == []


def test_what_cannot_be_read_or_written_says_so(tmp_path):
    with pytest.raises(FileError, match="no-such"):
        record.Reader(tmp_path / "no-such")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(PubsubError, match="no MCAP file"):
        record.Reader(tmp_path / "text")
    for options in ({"format": "xml"}, {"level": 30}, {"chunk_bytes": 1}, {"chunk_seconds": 0}, {"split_seconds": -1}):
        with pytest.raises(InvalidArgument):
            record.Writer(tmp_path / "x", **options)
    assert not (tmp_path / "x").exists()
    with record.Writer(tmp_path / "a") as writer, pytest.raises(libpubsub.EncodeError):
        writer.write_data("t", object())


def test_behind_what_cannot_be_read_reading_goes_on(tmp_path):
    path = tmp_path / "a.mcap"
    with record.Writer(path, level=0) as writer:
        for text in ("message 1", "message 2", "message 3"):
            writer.write_data("t", text)
            writer.flush()
    path.write_bytes(path.read_bytes().replace(b"message 2", b"Message 2"))
    with record.Reader(path) as reader:
        assert reader.read().data == "message 1"
        with pytest.raises(DecodeError, match="checksum"):
            reader.read()
        assert reader.read().data == "message 3"
        assert reader.read() is None


@pytest.mark.parametrize("options", [{}, {"level": 0}, {"format": "json"}, {"chunk_bytes": 2000}])
def test_the_official_reader_reads_our_files(tmp_path, options):
    official = pytest.importorskip("mcap.reader")
    stream_reader = pytest.importorskip("mcap.stream_reader")
    path = tmp_path / "a.mcap"
    publisher, messages = received(200)
    with record.Writer(path, about={"site": "north"}, **options) as writer:
        for message in messages[:100]:
            writer.write(message)
        writer.note_gap(missed=2)
        for message in messages[100:]:
            writer.write(message)
    with path.open("rb") as file:
        reader = official.make_reader(file, validate_crcs=True)
        found = list(reader.iter_messages())
        assert [channel.topic for _, channel, _ in found] == [x.topic for x in messages]
        assert [message.sequence for _, _, message in found] == [x.origin[2] for x in messages]
        assert {channel.metadata["origin"] for _, channel, _ in found} == {str(publisher)}
        if "format" in options:
            assert {schema.encoding for schema, _, _ in found} == {"jsonschema"}
            assert [json.loads(message.data) for _, _, message in found] == [json.loads(x.to_json()) for x in messages]
        else:
            assert [libpubsub.decode(message.data) for _, _, message in found] == [x.data for x in messages]
        statistics = reader.get_summary().statistics
        assert (statistics.message_count, statistics.metadata_count) == (200, 2)
        assert sum(statistics.channel_message_counts.values()) == 200
        assert {x.name: x.metadata.get("missed") for x in reader.iter_metadata()} == {"pubsub.recording": None, "pubsub.gap": "2"}
        only = list(reader.iter_messages(topics=["/b/c"]))
        assert [channel.topic for _, channel, _ in only] == ["/b/c"] * 100
    with path.open("rb") as file:  # every record in its order, and the checksum of the data section
        kinds = {type(x).__name__ for x in stream_reader.StreamReader(file, validate_crcs=True).records}
        assert {"Header", "Schema", "Channel", "Message", "MessageIndex", "DataEnd", "ChunkIndex", "Footer"} <= kinds


@pytest.mark.parametrize("options", [{}, {"use_chunking": False}, {"compression": "NONE"}, {"chunk_size": 200},
                                     {"use_statistics": False}, {"repeat_channels": False, "use_summary_offsets": False}])
def test_our_reader_reads_files_of_the_official_writer(tmp_path, options):
    official = pytest.importorskip("mcap.writer")
    options = {**options}
    if "compression" in options:
        options["compression"] = official.CompressionType[options["compression"]]
    output = io.BytesIO()
    writer = official.Writer(output, **options)
    writer.start()
    schema = writer.register_schema("point", "jsonschema", b"{}")
    channels = [writer.register_channel(topic, "json", schema) for topic in ("/a", "/b")]
    for i in range(50):
        writer.add_message(channels[i % 2], log_time=1000 + i, publish_time=i, sequence=i, data=b'{"x":%d}' % i)
    writer.add_metadata("other", {"a": "b"})
    writer.finish()
    path = tmp_path / "a.mcap"
    path.write_bytes(output.getvalue())
    found = read_all(path)
    assert [(x.topic, x.encoding, x.raw, x.log_time.ns, x.publish_time.ns, x.sequence, x.origin) for x in found] == [
        ("/b" if i % 2 else "/a", "json", b'{"x":%d}' % i, 1000 + i, i, i, None) for i in range(50)]
    summary = record.summarize(path)
    assert (summary.messages, summary.damage, [x.messages for x in summary.topics]) == (50, "", [25, 25])
    assert [x.sequence for x in read_all(path, topics=["/b"], start=Timestamp(1010))] == list(range(11, 50, 2))


def test_lz4_is_an_error_that_says_so(tmp_path):
    official = pytest.importorskip("mcap.writer")
    output = io.BytesIO()
    writer = official.Writer(output, compression=official.CompressionType.LZ4)
    writer.start()
    channel = writer.register_channel("/a", "json", 0)
    writer.add_message(channel, log_time=1, publish_time=1, data=b"{}")
    writer.finish()
    (tmp_path / "a.mcap").write_bytes(output.getvalue())
    with record.Reader(tmp_path / "a.mcap") as reader, pytest.raises(NotSupported, match="lz4"):
        reader.read()
