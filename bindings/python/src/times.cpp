// SPDX-License-Identifier: BSD-3-Clause
#include "times.hpp"

#include <chrono>

#include <datetime.h>

#include "raise.hpp"

namespace pubsub::python {

namespace {

constexpr std::int64_t ns_per_us = 1'000;
constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::int64_t us_per_second = 1'000'000;

PyObject* with_ns(PyObject* self, std::ptrdiff_t offset, std::int64_t ns) {
  auto guard = py::reinterpret_steal<py::object>(checked(self));
  slot(self, offset) = checked(PyLong_FromLongLong(ns));
  return without_gc(guard.release().ptr());
}

std::int64_t stored_ns(PyObject* x, std::ptrdiff_t offset) {
  auto* ns = slot(x, offset);
  if (ns == nullptr)
    raise(types.encode_error, "a time object that was never initialised");
  auto result = PyLong_AsLongLong(ns);
  if (result == -1 && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  return result;
}

std::int64_t delta_ns(PyObject* x) {
  auto seconds =
      std::int64_t{PyDateTime_DELTA_GET_DAYS(x)} * 86'400 + PyDateTime_DELTA_GET_SECONDS(x);
  std::int64_t result;
  if (__builtin_mul_overflow(seconds, ns_per_second, &result) ||
      __builtin_add_overflow(result, PyDateTime_DELTA_GET_MICROSECONDS(x) * ns_per_us, &result))
    raise(types.encode_error,
          "a time beyond 64 bits of nanoseconds: " + std::string(py::str(py::handle(x))));
  return result;
}

PyObject* epoch() {
  static auto* instance = checked(PyDateTimeAPI->DateTime_FromDateAndTime(
      1970, 1, 1, 0, 0, 0, 0, PyDateTime_TimeZone_UTC, PyDateTimeAPI->DateTimeType));
  return instance;
}

} // namespace

void load_datetime() {
  PyDateTime_IMPORT;
  if (PyDateTimeAPI == nullptr)
    throw py::error_already_set();
}

PyObject* make_timestamp(timestamp x) {
  auto us = std::chrono::floor<std::chrono::microseconds>(x);
  auto midnight = std::chrono::floor<std::chrono::days>(us);
  std::chrono::year_month_day day{midnight};
  auto rest = (us - midnight).count();
  auto seconds = static_cast<int>(rest / us_per_second);
  auto* self = PyDateTimeAPI->DateTime_FromDateAndTime(
      static_cast<int>(day.year()), static_cast<int>(static_cast<unsigned>(day.month())),
      static_cast<int>(static_cast<unsigned>(day.day())), seconds / 3600, seconds / 60 % 60,
      seconds % 60, static_cast<int>(rest % us_per_second), PyDateTime_TimeZone_UTC,
      types.timestamp);
  return with_ns(self, types.timestamp_ns_offset, x.time_since_epoch().count());
}

PyObject* make_timespan(timespan x) {
  auto us = std::chrono::floor<std::chrono::microseconds>(x);
  auto days = std::chrono::floor<std::chrono::days>(us);
  auto rest = (us - days).count();
  auto* self = PyDateTimeAPI->Delta_FromDelta(
      static_cast<int>(days.count()), static_cast<int>(rest / us_per_second),
      static_cast<int>(rest % us_per_second), 0, types.timespan);
  return with_ns(self, types.timespan_ns_offset, x.count());
}

bool is_datetime(PyObject* x) noexcept {
  return PyDateTime_Check(x);
}

bool is_timedelta(PyObject* x) noexcept {
  return PyDelta_Check(x);
}

timestamp to_timestamp(PyObject* x) {
  if (Py_TYPE(x) == types.timestamp)
    return timestamp{timespan{stored_ns(x, types.timestamp_ns_offset)}};
  // What PyDateTime_DATE_GET_TZINFO looks at, which Python 3.9 does not have.
  if (reinterpret_cast<_PyDateTime_BaseTZInfo*>(x)->hastzinfo == 0)
    raise(types.encode_error, "naive datetime " + std::string(py::str(py::handle(x))) +
                                  ": give it a time zone, for instance datetime.timezone.utc");
  auto* delta = PyNumber_Subtract(x, epoch());
  if (delta == nullptr) { // a tzinfo whose utcoffset is None
    PyErr_Clear();
    raise(types.encode_error, "a datetime whose time zone gives no offset to UTC");
  }
  auto guard = py::reinterpret_steal<py::object>(delta);
  return timestamp{to_timespan(delta)};
}

timespan to_timespan(PyObject* x) {
  if (Py_TYPE(x) == types.timespan)
    return timespan{stored_ns(x, types.timespan_ns_offset)};
  if (!PyDelta_Check(x))
    raise(types.encode_error, "a datetime whose difference to the epoch is no timedelta");
  return timespan{delta_ns(x)};
}

} // namespace pubsub::python
