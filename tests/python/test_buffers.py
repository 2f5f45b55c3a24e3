# SPDX-License-Identifier: BSD-3-Clause
"""Memory goes out and comes in through the buffer protocol, without a copy in between where there need be none."""

import array
import gc
import mmap
import sys
import weakref

import pytest

import libpubsub
from libpubsub import Count, decode, encode


@pytest.fixture
def receive(endpoint):
    """Publishes a value and gives the message that arrives."""
    subscriber = endpoint.make_subscriber("t")

    def publish_and_get(value):
        endpoint.publish("t", value)
        return subscriber.get(timeout=20)
    return publish_and_get


def test_every_object_with_a_contiguous_buffer_is_a_string_on_the_wire():
    doubles = array.array("d", [1.5, -2.0])
    with mmap.mmap(-1, 3) as pages:
        pages[:] = b"abc"
        for value, data in [(b"\xff\x00", b"\xff\x00"), (bytearray(b"\xff"), b"\xff"), (memoryview(b"a\xff")[1:], b"\xff"),
                            (doubles, doubles.tobytes()), (memoryview(doubles), doubles.tobytes()), (pages, b"abc"),
                            (memoryview(bytes(range(6))).cast("B", (2, 3)), bytes(range(6)))]:
            assert encode(value) == encode(data)
            assert encode([value, Count(1)]) == encode([data, Count(1)])


@pytest.mark.parametrize("value", [memoryview(b"abcd")[::2], memoryview(b"abcd")[::-1]])
def test_a_buffer_that_is_not_contiguous_is_refused_and_says_what_to_do(value):
    with pytest.raises(libpubsub.EncodeError, match=r"memoryview that gives no contiguous buffer \(.*contiguous\).*bytes\(x\)"):
        encode(value)


def test_a_released_view_is_refused():
    view = memoryview(b"a")
    view.release()
    with pytest.raises(libpubsub.EncodeError, match="released"):
        encode(view)


def test_numbers_that_happen_to_have_a_buffer_are_not_strings():
    number = memoryview(array.array("i", [1])).cast("B").cast("i", ())
    with pytest.raises(libpubsub.EncodeTypeError, match="single number"):
        encode(number)


def test_a_buffer_can_be_changed_as_soon_as_it_is_published(endpoint):
    subscriber = endpoint.make_subscriber("t")
    buffer = bytearray(b"\xff123")
    endpoint.publish("t", buffer)
    buffer.clear()  # raises where anybody still held on to it
    assert subscriber.get(timeout=20).data == b"\xff123"


def test_a_message_with_a_string_is_a_read_only_buffer(receive):
    for data in (b"text", b"\xff\x00", b"", bytes(100_000)):
        view = memoryview(receive(data))
        assert view.readonly and view.format == "B" and view.tobytes() == data
    with pytest.raises(TypeError, match="read-only"):
        memoryview(receive(b"abc"))[0] = 1


def test_other_values_are_no_buffers(receive):
    for value in (1, None, [b"abc"]):
        with pytest.raises(BufferError, match="string"):
            memoryview(receive(value))


def test_a_view_keeps_the_message_instead_of_copying_it(receive):
    message = receive(b"x" * 1000)
    references = sys.getrefcount(message)
    view = memoryview(message)
    assert view.obj is message and sys.getrefcount(message) > references
    del view
    assert sys.getrefcount(message) == references


def test_a_view_outlives_message_subscriber_and_endpoint():
    with libpubsub.Endpoint() as endpoint, libpubsub.Endpoint() as other:
        port = endpoint.listen("tcp://127.0.0.1:0")
        subscriber = endpoint.make_subscriber("t")
        other.peer(f"tcp://127.0.0.1:{port}")
        assert other.wait_for_subscribers("t", timeout=20)
        payloads = [bytes([i]) * (100 + i) for i in range(200)]
        other.publish_batch("t", payloads)
        views = [memoryview(subscriber.get(timeout=20)) for _ in payloads]
    gone = weakref.ref(subscriber)
    del subscriber, endpoint, other
    gc.collect()
    assert gone() is None
    assert [view.tobytes() for view in views] == payloads


def test_strings_inside_vectors_can_be_viewed_in_place(receive):
    message = receive([Count(7), b"\xff\x00", ["text", [""]]])
    assert message.view(1) == b"\xff\x00" and message.view(2, 0) == b"text" and message.view(-1, -1, 0) == b""
    assert message.view(1).readonly
    assert receive(b"all").view() == b"all"
    view = receive((b"a", b"x" * 100_000)).view(1)
    gc.collect()
    assert view == b"x" * 100_000


@pytest.mark.parametrize("path, error, words", [
    ((), TypeError, "a string was expected where the message has a vector"),
    ((0,), TypeError, "a string was expected where the message has a count"),
    ((0, 0), TypeError, "a vector was expected where the message has a count"),
    ((2,), IndexError, "2 members"), ((-3,), IndexError, "2 members"), ((2**70,), IndexError, "fit"), (("1",), TypeError, "int")])
def test_a_view_of_what_is_no_string_is_refused(receive, path, error, words):
    with pytest.raises(error, match=words):
        receive([Count(1), "a"]).view(*path)


def test_a_message_that_arrived_can_be_published_again_as_a_buffer(receive):
    assert receive(receive(b"\xff1")).data == b"\xff1"


def test_numpy_arrays_go_and_come():
    numpy = pytest.importorskip("numpy", reason="numpy is optional: array and memoryview test the protocol")
    numbers = numpy.arange(12, dtype="<i4").reshape(3, 4)
    assert encode(numbers) == encode(numbers.tobytes())
    with pytest.raises(libpubsub.EncodeError, match="contiguous"):
        encode(numbers.T)
    for value in (numpy.int64(5), numpy.array(5), numpy.array([object()])):
        with pytest.raises(libpubsub.EncodeTypeError):
            encode(value)
    with pytest.raises(libpubsub.EncodeError, match="dtype"):
        encode(numpy.array(["2026-01-01"], dtype="datetime64[s]"))
    assert decode(encode(numpy.float64(1.5))) == 1.5  # a float


def test_numpy_reads_a_message_in_place(receive):
    numpy = pytest.importorskip("numpy", reason="numpy is optional: array and memoryview test the protocol")
    numbers = numpy.arange(1000, dtype="<f8")
    message = receive(numbers)
    array_of_message = numpy.frombuffer(message, dtype="<f8")
    assert not array_of_message.flags.writeable and not array_of_message.flags.owndata
    del message
    assert (array_of_message == numbers).all()
