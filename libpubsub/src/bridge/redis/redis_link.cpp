// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_link.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include "base/printable.hpp"
#include "bridge/redis/redis_socket.hpp"

namespace pubsub::bridge {

namespace {

constexpr std::size_t piece_bytes = 65536;
/// `drive` goes back to its caller after so many pieces.
constexpr int pieces_at_once = 64;
/// What is sent is thrown away once it is so much.
constexpr std::size_t kept_bytes = 1 << 20;

std::unique_ptr<redisReader, void (*)(redisReader*)> make_reader() {
  return {::redisReaderCreate(), ::redisReaderFree};
}

} // namespace

std::string_view text_of(const redisReply& x) {
  const bool has_text =
      x.type == REDIS_REPLY_STRING || x.type == REDIS_REPLY_STATUS || x.type == REDIS_REPLY_ERROR;
  return has_text && x.str != nullptr ? std::string_view{x.str, x.len} : std::string_view{};
}

bool is_array(const redisReply* x, std::size_t at_least) {
  if (x == nullptr || x->type != REDIS_REPLY_ARRAY || x->elements < at_least)
    return false;
  for (std::size_t i = 0; i < x->elements; ++i)
    if (x->element[i] == nullptr)
      return false;
  return true;
}

bool is_passing(std::string_view error) noexcept {
  constexpr std::array<std::string_view, 11> words{
      "OOM",        "READONLY", "LOADING", "NOAUTH",   "MASTERDOWN", "CLUSTERDOWN",
      "NOREPLICAS", "MISCONF",  "BUSY",    "TRYAGAIN", "UNBLOCKED"};
  const auto word = error.substr(0, error.find(' '));
  for (const auto each : words)
    if (word == each)
      return true;
  return false;
}

redis_link::redis_link(redis_url url)
    : url_(std::move(url)), reader_(make_reader()),
      connector_([this] { return connect_to(url_); }, [this] { loop_.wake(); }) {}

redis_link::~redis_link() {
  if (socket_.valid())
    loop_.remove(socket_.get());
}

void redis_link::drive() {
  const auto now = loop_.look();
  if (!socket_.valid()) {
    if (!std::exchange(asked_, true))
      connector_.start();
    if (auto made = connector_.take())
      begin(std::move(*made));
  }
  if (socket_.valid())
    flush();
  if (socket_.valid() && now.readable)
    receive();
  take_greetings();
}

void redis_link::begin(unique_fd socket) {
  socket_ = std::move(socket);
  asked_ = false;
  ++generation_;
  reader_ = make_reader();
  loop_.add(socket_.get(), true, false);
  waits_for_room_ = false;
  if (!url_.user.empty())
    command({"AUTH", url_.user, url_.password});
  else if (!url_.password.empty())
    command({"AUTH", url_.password});
  const auto database = std::to_string(url_.database);
  if (url_.database != 0)
    command({"SELECT", database});
  command({"PING"}); // the server may want a login, or not be Redis
  greetings_ = (url_.password.empty() ? 0U : 1U) + (url_.database == 0 ? 0U : 1U) + 1;
}

void redis_link::command(const std::vector<std::string_view>& arguments) {
  out_ += '*';
  out_ += std::to_string(arguments.size());
  for (const auto each : arguments) {
    out_ += "\r\n$";
    out_ += std::to_string(each.size());
    out_ += "\r\n";
    out_ += each;
  }
  out_ += "\r\n";
}

void redis_link::flush() {
  while (socket_.valid() && unsent() > 0) {
    const auto n =
        ::send(socket_.get(), out_.data() + sent_, unsent(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno != EAGAIN)
      return drop(std::strerror(errno));
    if (n < 0)
      break;
    sent_ += static_cast<std::size_t>(n);
  }
  if (unsent() == 0 || sent_ > kept_bytes) {
    out_.erase(0, sent_);
    sent_ = 0;
  }
  if (socket_.valid() && waits_for_room_ != (unsent() > 0)) {
    waits_for_room_ = unsent() > 0;
    loop_.change(socket_.get(), true, waits_for_room_);
  }
}

void redis_link::receive() {
  std::array<char, piece_bytes> piece;
  for (int i = 0; i < pieces_at_once; ++i) {
    const auto n = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && errno == EAGAIN)
      return;
    if (n <= 0)
      return drop(n == 0 ? "the server has closed the connection" : std::strerror(errno));
    void* reply = nullptr;
    int status = ::redisReaderFeed(reader_.get(), piece.data(), static_cast<std::size_t>(n));
    while (status == REDIS_OK &&
           (status = ::redisReaderGetReply(reader_.get(), &reply)) == REDIS_OK && reply != nullptr)
      replies_.emplace_back(static_cast<redisReply*>(reply));
    if (status != REDIS_OK)
      return drop("what it says is not Redis' protocol");
    if (static_cast<std::size_t>(n) < piece.size())
      return;
  }
}

void redis_link::take_greetings() {
  while (greetings_ > 0 && !replies_.empty()) {
    const auto reply = std::move(replies_.front());
    replies_.pop_front();
    if (reply->type != REDIS_REPLY_STATUS)
      return drop(reply->type == REDIS_REPLY_ERROR ? printable(text_of(*reply))
                                                   : "what it says is not Redis' protocol");
    if (--greetings_ == 0) {
      ready_ = true;
      problem_.clear();
      connector_.went_well();
    }
  }
}

reply_ptr redis_link::next() {
  if (!ready_ || replies_.empty())
    return {};
  auto result = std::move(replies_.front());
  replies_.pop_front();
  return result;
}

void redis_link::drop(std::string_view why) {
  if (socket_.valid())
    loop_.remove(socket_.get());
  socket_ = {};
  replies_.clear();
  out_.clear();
  sent_ = 0;
  greetings_ = 0;
  ready_ = false;
  problem_ = url_.shown() + ": " + std::string{why};
  loop_.wake();
}

std::string redis_link::problem() const {
  auto now = connector_.problem();
  return now.empty() ? problem_ : now;
}

} // namespace pubsub::bridge
