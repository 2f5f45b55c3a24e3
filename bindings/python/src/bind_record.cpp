// Recordings: MCAP files, as Python reads and writes them.
// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "encode.hpp"
#include "message.hpp"
#include "options.hpp"
#include "raise.hpp"
#include "record_handles.hpp"
#include "times.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

using optional_time = std::optional<any_object>;

timestamp time_or_now(const optional_time& x) {
  return x ? to_timestamp(x->ptr()) : now();
}

std::optional<timestamp> time_in(const optional_time& x) {
  return x ? std::optional{to_timestamp(x->ptr())} : std::nullopt;
}

timestamp_object time_object(timestamp x) {
  return timestamp_object::own(make_timestamp(x));
}

record::reader_options reader_options_of(const std::vector<py::str>& topics,
                                         const optional_time& start, const optional_time& end) {
  record::reader_options result;
  result.topics = make_filter(topics);
  result.from = time_in(start);
  result.to = time_in(end);
  return result;
}

std::chrono::nanoseconds time_or_never(double given_s) {
  return given_s == 0 ? std::chrono::nanoseconds{0} : time_of("split_seconds", given_s);
}

record::writer_options writer_options_of(const std::string& format, int level,
                                         std::size_t chunk_bytes, double chunk_seconds,
                                         std::uint64_t split_bytes, double split_seconds,
                                         bool replace, std::map<std::string, std::string> about) {
  if (format != "bin" && format != "json")
    raise(types.invalid_argument, "the format of a recording is bin or json, not " + format);
  record::writer_options result;
  result.chunks.format =
      format == "json" ? record::payload_format::json : record::payload_format::binary;
  result.chunks.compression_level = level;
  result.chunks.chunk_bytes = chunk_bytes;
  result.chunks.chunk_time = time_of("chunk_seconds", chunk_seconds);
  result.chunks.about.insert(about.begin(), about.end());
  result.split_bytes = split_bytes;
  result.split_time = time_or_never(split_seconds);
  result.existing = replace ? record::existing_file::replace : record::existing_file::refuse;
  return result;
}

using origin_tuple = std::tuple<std::string, std::uint32_t, std::uint64_t>;

std::optional<message_origin> origin_of(const std::optional<origin_tuple>& x) {
  if (!x)
    return std::nullopt;
  const auto& [id, stream, sequence] = *x;
  return message_origin{value_or_raise(endpoint_id::parse(id)), stream, sequence};
}

void write_data(record_writer_handle& to, const py::str& topic, const any_object& value,
                const optional_time& log_time, const optional_time& publish_time,
                const std::optional<origin_tuple>& origin) {
  scratch_writer encoded;
  encode(value.ptr(), *encoded);
  const auto name = topic_bytes(topic);
  record::message msg;
  msg.topic = name;
  msg.payload = encoded->bytes();
  msg.log_time = time_or_now(log_time);
  msg.publish_time = time_in(publish_time).value_or(msg.log_time);
  msg.origin = origin_of(origin);
  msg.sequence = msg.origin ? msg.origin->sequence : 0;
  to.write(msg);
}

void bind_recorded_message(py::module_& m) {
  using self = recorded_message;
  py::class_<self, recorded_message_ptr>(m, "RecordedMessage", "A message of a recording.")
      .def_property_readonly(
          "topic", [](const self& x) { return py::str(own(make_topic(x.parts().topic))); },
          "The topic; bytes that are not UTF-8 are surrogate escapes.")
      .def_property_readonly(
          "data", [](self& x) { return any_object::own(x.data().release().ptr()); },
          "The value, decoded on first access. Raises DecodeError, or NotSupported for an encoding "
          "that is not this library's.")
      .def_property_readonly(
          "raw",
          [](const self& x) {
            const auto& payload = x.parts().payload;
            return py::bytes(reinterpret_cast<const char*>(payload.data()), payload.size());
          },
          "The payload as it was recorded: with `encoding` x-pubsub-bin-v1 the value as encoded "
          "bytes.")
      .def_property_readonly("encoding", [](const self& x) { return x.parts().encoding; })
      .def_property_readonly(
          "log_time", [](const self& x) { return time_object(x.parts().log_time); },
          "When it was recorded.")
      .def_property_readonly(
          "publish_time", [](const self& x) { return time_object(x.parts().publish_time); },
          "The network time of a Zeek event that has one, otherwise `log_time`.")
      .def_property_readonly(
          "origin",
          [](const self& x) -> std::optional<origin_tuple> {
            const auto& origin = x.parts().origin;
            if (!origin)
              return std::nullopt;
            return origin_tuple{to_string(origin->endpoint), origin->stream, origin->sequence};
          },
          "Who published it: endpoint id, stream, number in the stream; None where the recorder "
          "did not know.")
      .def_property_readonly(
          "sequence", [](const self& x) { return x.parts().sequence; },
          "The number in the file: that of the origin, or one that the recorder has given.")
      .def("__repr__", [](self& x) {
        return py::str("RecordedMessage(topic={!r}, log_time={}, sequence={})")
            .format(own(make_topic(x.parts().topic)), time_object(x.parts().log_time),
                    x.parts().sequence);
      });
}

void bind_reader(py::module_& m) {
  using self = record_reader_handle;
  py::class_<self, std::shared_ptr<self>>(m, "RecordReader")
      .def(py::init([](const std::string& path, const std::vector<py::str>& topics,
                       const optional_time& start, const optional_time& end) {
             return std::make_shared<self>(path, reader_options_of(topics, start, end));
           }),
           py::arg("path"), py::arg("topics"), py::arg("start"), py::arg("end"))
      .def(
          "read",
          [](self& x) {
            auto msg = x.next();
            return msg ? std::optional{std::move(msg)} : std::nullopt;
          },
          "The next message; None at the end. Raises DecodeError, NotSupported, LimitExceeded or "
          "FileError, which name the place in the file; the next call goes on behind it.")
      .def_property_readonly("path", &self::path)
      .def_property_readonly("indexed", &self::indexed,
                             "True if the file has an index that is right.")
      .def_property_readonly("damage", &self::damage,
                             "Once the end is reached: where the file breaks off, or why it has no "
                             "index; empty if it is whole.")
      .def("close", &self::close, "Reads no more.");
}

void bind_writer(py::module_& m) {
  using self = record_writer_handle;
  py::class_<self, std::shared_ptr<self>>(m, "RecordWriter")
      .def(py::init([](const std::string& path, const std::string& format, int level,
                       std::size_t chunk_bytes, double chunk_seconds, std::uint64_t split_bytes,
                       double split_seconds, bool replace,
                       std::map<std::string, std::string> about) {
             return std::make_shared<self>(
                 path, writer_options_of(format, level, chunk_bytes, chunk_seconds, split_bytes,
                                         split_seconds, replace, std::move(about)));
           }),
           py::arg("path"), py::arg("format"), py::arg("level"), py::arg("chunk_bytes"),
           py::arg("chunk_seconds"), py::arg("split_bytes"), py::arg("split_seconds"),
           py::arg("replace"), py::arg("about"))
      .def(
          "write_message",
          [](self& x, const message_result& msg, const optional_time& log_time) {
            x.write(message_in(msg), time_or_now(log_time));
          },
          py::arg("message"), py::arg("log_time") = py::none(),
          "Records a message that a subscriber has received.")
      .def(
          "write_recorded", [](self& x, const recorded_message& msg) { x.write(msg.parts()); },
          py::arg("message"), "Records a message of another recording, with its times and origin.")
      .def("write_data", write_data, py::arg("topic"), py::arg("data"), py::kw_only(),
           py::arg("log_time") = py::none(), py::arg("publish_time") = py::none(),
           py::arg("origin") = py::none(),
           "Records a value in the format bin. Times are of type Timestamp or aware datetimes, and "
           "now if they are not given. Raises EncodeError, FileError.")
      .def(
          "note_gap",
          [](self& x, std::uint64_t missed, std::uint64_t dropped) {
            x.note({missed, dropped});
          },
          py::arg("missed") = 0, py::arg("dropped") = 0,
          "Notes that messages are missing in front of the next one.")
      .def("flush", &self::flush, "Writes what has been gathered. Raises FileError.")
      .def("close", &self::close,
           "Writes what has been gathered, and the index. Idempotent. Raises FileError.")
      .def_property_readonly("path", &self::path, "The file that is written, or was the last.")
      .def_property_readonly(
          "messages", [](const self& x) { return x.totals().messages; }, "Recorded so far.")
      .def_property_readonly(
          "files", [](const self& x) { return x.totals().files; }, "Begun so far.");
}

py::dict describe(const record::summary& x) {
  py::dict result;
  result["path"] = x.path;
  result["library"] = x.library;
  result["file_bytes"] = x.file_bytes;
  result["indexed"] = x.indexed;
  result["damage"] = x.damage;
  result["messages"] = x.messages;
  result["chunks"] = x.chunks;
  result["compression"] = x.compression;
  result["compressed_bytes"] = x.compressed_bytes;
  result["uncompressed_bytes"] = x.uncompressed_bytes;
  result["first"] = x.first ? py::object(time_object(*x.first)) : py::none();
  result["last"] = x.last ? py::object(time_object(*x.last)) : py::none();
  py::list topics;
  for (const auto& each : x.topics)
    topics.append(
        py::make_tuple(own(make_topic(each.topic)), each.encoding, each.messages, each.streams));
  py::list gaps;
  for (const auto& each : x.gaps)
    gaps.append(py::make_tuple(time_object(each.when), each.missing.missed, each.missing.dropped));
  result["topics"] = topics;
  result["gaps"] = gaps;
  result["about"] = std::map<std::string, std::string>(x.about.begin(), x.about.end());
  return result;
}

} // namespace

void bind_record(py::module_& m) {
  bind_recorded_message(m);
  bind_reader(m);
  bind_writer(m);
  m.def(
      "summarize_recording",
      [](const std::string& path) {
        auto found = [&] {
          gil_free nogil;
          return record::summarize(path);
        }();
        return any_object::own(describe(value_or_raise(std::move(found))).release().ptr());
      },
      py::arg("path"));
}

} // namespace pubsub::python
