// Recordings as Python holds them: the thread that reads or writes gives up the GIL for the disk.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include <pubsub/record/reader.hpp>
#include <pubsub/record/summary.hpp>
#include <pubsub/record/writer.hpp>

#include "python_types.hpp"
#include "waiting.hpp"

namespace pubsub::python {

/// A message of a recording with memory of its own. Its text and bytes are those of `parts`.
class recorded_message {
public:
  explicit recorded_message(const record::message& from);

  const record::message& parts() const noexcept { return parts_; }
  recorded_message(const recorded_message&) = delete;
  recorded_message& operator=(const recorded_message&) = delete;

  /// The value, decoded when it is first asked for. Raises DecodeError, NotSupported.
  py::object data();

private:
  std::string topic_;
  std::string encoding_;
  std::vector<std::byte> payload_;
  record::message parts_;
  py::object data_;
};

using recorded_message_ptr = std::shared_ptr<recorded_message>;

/// Any number of threads may share one; each message goes to one of them.
class record_reader_handle {
public:
  record_reader_handle(std::string path, record::reader_options options);

  /// Null at the end, or once it is closed. Raises what `reader::next` returns.
  recorded_message_ptr next();
  bool indexed() const;
  std::string damage() const;
  const std::string& path() const noexcept { return path_; }
  void close();

private:
  void fill();

  std::string path_;
  mutable std::mutex mutex_; // guards all below; never held while the GIL is waited for
  std::optional<record::reader> reader_;
  std::deque<recorded_message_ptr> ready_;
  std::optional<error> failure_; // behind what is ready
  bool ended_ = false;
};

/// Any number of threads may share one. In a forked child it refuses, and never writes: the file is
/// the parent's.
class record_writer_handle {
public:
  record_writer_handle(std::string path, record::writer_options options);
  ~record_writer_handle();

  void write(const data_message& msg, timestamp log_time);
  void write(const record::message& msg);
  void note(const record::gap& missing);
  void flush();
  void close();
  record::totals totals() const;
  std::string path() const;

private:
  template <class Part>
  auto ask(Part part) const;

  mutable std::mutex mutex_; // guards writer_; never held while the GIL is waited for
  mutable std::optional<record::writer> writer_;
  fork_guard fork_;
};

} // namespace pubsub::python
