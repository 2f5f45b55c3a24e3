// SPDX-License-Identifier: BSD-3-Clause
#include "record_handles.hpp"

#include <pubsub/binary.hpp>

#include "decode.hpp"
#include "raise.hpp"
#include "waiting.hpp"

namespace pubsub::python {

recorded_message::recorded_message(const record::message& from)
    : topic_(from.topic), encoding_(from.encoding),
      payload_(from.payload.begin(), from.payload.end()), parts_(from) {
  parts_.topic = topic_;
  parts_.encoding = encoding_;
  parts_.payload = payload_;
}

py::object recorded_message::data() {
  if (data_)
    return data_;
  if (parts_.encoding == record::binary_encoding) {
    data_ = own(to_python(value_or_raise(record::view_of(parts_))));
  } else {
    const auto encoded = value_or_raise(encode_binary(value_or_raise(record::value_of(parts_))));
    data_ = own(to_python(data_view::from_valid(encoded)));
  }
  return data_;
}

record_reader_handle::record_reader_handle(std::string path, record::reader_options options)
    : path_(path) {
  auto opened = [&] {
    gil_free nogil;
    return record::reader::open(std::move(path), std::move(options));
  }();
  reader_.emplace(value_or_raise(std::move(opened)));
}

// Without the GIL, and many at a time: the caller has the mutex.
void record_reader_handle::fill() {
  constexpr std::size_t most = 256;
  while (ready_.size() < most && !ended_ && !failure_) {
    const auto msg = reader_->next();
    if (!msg)
      failure_ = msg.error();
    else if (*msg)
      ready_.push_back(std::make_shared<recorded_message>(**msg));
    else
      ended_ = true;
  }
}

recorded_message_ptr record_reader_handle::next() {
  recorded_message_ptr result;
  std::optional<error> failure;
  {
    gil_free nogil;
    std::lock_guard lock{mutex_};
    if (ready_.empty() && reader_ && !failure_)
      fill();
    if (!ready_.empty()) {
      result = std::move(ready_.front());
      ready_.pop_front();
    } else {
      failure.swap(failure_);
    }
  }
  if (failure)
    raise(*failure);
  return result;
}

bool record_reader_handle::indexed() const {
  gil_free nogil;
  std::lock_guard lock{mutex_};
  return reader_ && reader_->indexed();
}

std::string record_reader_handle::damage() const {
  gil_free nogil;
  std::lock_guard lock{mutex_};
  return reader_ && ended_ ? reader_->damage() : std::string{};
}

void record_reader_handle::close() {
  std::deque<recorded_message_ptr> unread;
  {
    gil_free nogil;
    std::lock_guard lock{mutex_};
    reader_.reset();
    unread.swap(ready_);
    failure_.reset();
  }
}

namespace {

record::writer open_writer(std::string path, record::writer_options options) {
  auto opened = [&] {
    gil_free nogil;
    return record::writer::open(std::move(path), std::move(options));
  }();
  return value_or_raise(std::move(opened));
}

} // namespace

record_writer_handle::record_writer_handle(std::string path, record::writer_options options)
    : writer_(open_writer(std::move(path), std::move(options))) {}

record_writer_handle::~record_writer_handle() {
  if (fork_.crossed())
    new std::optional<record::writer>(std::move(writer_)); // it would close the file
}

template <class Part>
auto record_writer_handle::ask(Part part) const {
  fork_.check();
  gil_free nogil;
  std::lock_guard lock{mutex_};
  return part(*writer_);
}

void record_writer_handle::write(const data_message& msg, timestamp log_time) {
  value_or_raise(ask([&](record::writer& to) { return to.write(msg, log_time); }));
}

void record_writer_handle::write(const record::message& msg) {
  value_or_raise(ask([&](record::writer& to) { return to.write(msg); }));
}

void record_writer_handle::note(const record::gap& missing) {
  ask([&](record::writer& to) { to.note(missing); });
}

void record_writer_handle::flush() {
  value_or_raise(ask([](record::writer& to) { return to.flush(); }));
}

void record_writer_handle::close() {
  value_or_raise(ask([](record::writer& to) { return to.close(); }));
}

record::totals record_writer_handle::totals() const {
  return ask([](record::writer& of) { return of.totals(); });
}

std::string record_writer_handle::path() const {
  return ask([](record::writer& of) { return of.path(); });
}

} // namespace pubsub::python
