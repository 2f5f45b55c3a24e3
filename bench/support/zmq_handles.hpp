// libzmq's handles, closed when they go; and its failures as exceptions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

#include <zmq.h>

namespace bench {

inline constexpr int high_water_mark = 10'000;

inline int checked(int result, const char* call) {
  if (result < 0)
    throw std::runtime_error(std::string{call} + ": " + zmq_strerror(zmq_errno()));
  return result;
}

class zmq_context {
public:
  zmq_context() : handle_(zmq_ctx_new()) {}
  zmq_context(const zmq_context&) = delete;
  zmq_context& operator=(const zmq_context&) = delete;
  ~zmq_context() { zmq_ctx_term(handle_); }
  void* handle() const noexcept { return handle_; }

private:
  void* handle_;
};

class zmq_end {
public:
  zmq_end(const zmq_context& context, int type) : handle_(zmq_socket(context.handle(), type)) {
    set(ZMQ_SNDHWM, high_water_mark);
    set(ZMQ_RCVHWM, high_water_mark);
    set(ZMQ_LINGER, 0);
    if (type == ZMQ_XPUB)
      set(ZMQ_XPUB_NODROP, 1);
    if (type == ZMQ_SUB)
      checked(zmq_setsockopt(handle_, ZMQ_SUBSCRIBE, "", 0), "subscribe");
  }
  zmq_end(const zmq_end&) = delete;
  zmq_end& operator=(const zmq_end&) = delete;
  ~zmq_end() { zmq_close(handle_); }

  void* handle() const noexcept { return handle_; }
  void set(int option, int value) {
    checked(zmq_setsockopt(handle_, option, &value, sizeof value), "zmq_setsockopt");
  }
  void bind(const char* address) { checked(zmq_bind(handle_, address), "zmq_bind"); }
  void connect(const std::string& address) {
    checked(zmq_connect(handle_, address.c_str()), "zmq_connect");
  }
  int bind_tcp() {
    bind("tcp://127.0.0.1:*");
    char address[64];
    std::size_t size = sizeof address;
    checked(zmq_getsockopt(handle_, ZMQ_LAST_ENDPOINT, address, &size), "zmq_getsockopt");
    std::string text{address};
    return std::stoi(text.substr(text.rfind(':') + 1));
  }

private:
  void* handle_;
};

class zmq_message {
public:
  zmq_message() { zmq_msg_init(&message_); }
  zmq_message(const zmq_message&) = delete;
  zmq_message& operator=(const zmq_message&) = delete;
  ~zmq_message() { zmq_msg_close(&message_); }
  zmq_msg_t* get() noexcept { return &message_; }
  const void* data() noexcept { return zmq_msg_data(&message_); }

private:
  zmq_msg_t message_;
};

inline std::string tcp_address(int port) {
  return "tcp://127.0.0.1:" + std::to_string(port);
}

} // namespace bench
