// Any bytes as what clients and instances of a service say to each other, and as a play of several
// such messages and events: each call completes once, each operation is handed out once.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/ids.hpp"
#include "fuzz/target.hpp"

#include <deque>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "pattern/remote/request_table.hpp"
#include "pattern/remote/service_queue.hpp"
#include "pattern/remote/service_results.hpp"

namespace pubsub::fuzz {

namespace {

using namespace pattern;
using namespace std::chrono_literals;

const endpoint_id client_id = id_of(1);
const endpoint_id instance_id = id_of(2); // the real one; others are in the input only

data_message message_of(const data_view& value) {
  return make_data_message("t", value.to_data());
}

void append_elements(data_writer& out, const data_view& all) {
  for (const auto& each : all.elements())
    out.write_encoded(each.bytes());
}

// -- messages ------------------------------------------------------------------------------------

/// Writes again what the value says. False if it is none of these messages.
bool rewrite(const data_view& value, data_writer& out) {
  data_writer values;
  if (const auto hello = parse<service_hello>(value)) {
    write(out, *hello);
  } else if (const auto status = parse<service_status>(value)) {
    write(out, *status);
  } else if (const auto request = parse<request_view>(value)) {
    const auto& [client, stream, first, operation, arguments] = *request;
    append_elements(values, arguments);
    write(out, service_request<value_list>{
                   client, stream, first, operation, {arguments.size(), values.bytes()}});
  } else if (const auto reply = parse<reply_view>(value)) {
    const auto& [instance, stream, here, busy, places, failed, untaken, results] = *reply;
    append_elements(values, results);
    write(out, service_reply<value_list>{instance,
                                         stream,
                                         here,
                                         busy,
                                         places,
                                         failed,
                                         untaken,
                                         {results.size(), values.bytes()}});
  } else if (const auto cancel = parse<cancel_request>(value)) {
    write(out, *cancel);
  } else {
    return false;
  }
  return true;
}

void read_and_write(const data_view& value) {
  data_writer once, twice;
  if (!rewrite(value, once))
    return;
  const auto again = data_view::make(once.bytes());
  check(again.has_value() && rewrite(*again, twice), "what was read can be written and read again");
  check(std::ranges::equal(once.bytes(), twice.bytes()), "it is written as it was read");
}

// -- an instance ---------------------------------------------------------------------------------

/// A queue and a worker; nobody is in a hurry.
class instance {
public:
  void hear(const data_message& message) {
    if (left_)
      return;
    if (const auto cancel = parse<cancel_request>(get_view(message)))
      return queue_.cancel(*cancel);
    const auto request = parse<request_view>(get_view(message));
    if (!request)
      return;
    const bool known = request->operation != "none";
    const auto missing = queue_.add({request->places(),
                                     {},
                                     known ? &operation_ : nullptr,
                                     request->arguments.elements().begin(),
                                     message});
    waiting_ += missing ? request->arguments.size() : 0;
    if (!missing || missing->count == 0)
      return;
    keep_untaken(*missing);
  }

  /// Does what the next client in turn has asked for, or a part of it.
  void work() {
    if (queue_.empty())
      return;
    auto some = queue_.take();
    if (!results_.goes_with(some) || some.client != results_.client())
      reply();
    const auto before = some.count;
    const auto first = some.first;
    results_.run(some);
    check(some.count < before, "some of it is done");
    for (auto place = first; place < some.first; ++place)
      check(done_.emplace(some.client, some.stream, place).second, "no place is handed out twice");
    check(before - some.count <= waiting_, "no more is handed out than has come");
    waiting_ -= before - some.count;
    queue_.put_back(std::move(some));
    if (results_.is_due() || queue_.empty())
      reply();
  }

  void hold_back(const endpoint_id& client) { queue_.hold_back(client); }
  void go_on(const endpoint_id& client) { queue_.go_on(client); }
  /// What it has not begun is given back; it hears nothing any more.
  void leave() {
    left_ = true;
    reply();
    for (const auto& each : queue_.clear()) {
      keep_untaken(each);
      if (each.first + each.count != std::numeric_limits<std::uint64_t>::max()) // it has come
        waiting_ -= each.count;
    }
    check(waiting_ == 0, "all that has come is done or given back");
  }
  /// Messages to the client of this play.
  std::deque<data_message> replies;

private:
  void reply() {
    if (results_.empty())
      return;
    data_writer out;
    results_.write(out);
    keep(results_.client(), out);
    results_.clear();
  }
  void keep_untaken(const client_places& what) {
    data_writer out;
    write(out, service_reply<value_list>{
                   instance_id, what.stream, 0, 0, {}, {}, {{what.first, what.count}}});
    keep(what.client, out);
  }
  void keep(const endpoint_id& client, const data_writer& out) {
    const auto value = data_view::make(out.bytes());
    check(value.has_value() && parse<reply_view>(*value).has_value(), "a reply can be read");
    if (client == client_id)
      replies.push_back(message_of(*value));
  }

  const service_operation operation_{
      [](const data_view& argument, data_writer& out) -> expected<void> {
        if (argument.type() == data_type::string)
          throw std::runtime_error{"no text"};
        if (argument.type() != data_type::none) // else it writes no value
          out.write_encoded(argument.bytes());
        return {};
      },
      false};
  service_queue queue_{2, 100};
  service_results results_{"s", instance_id, 100};
  std::size_t waiting_ = 0;
  bool left_ = false;
  std::set<std::tuple<endpoint_id, std::uint64_t, std::uint64_t>> done_;
};

// -- a play --------------------------------------------------------------------------------------

class play final : remote_port {
public:
  explicit play(remote_mode mode) : table_(client_id, "s", of_mode(mode), *this) {}

  void hear(const data_message& message) {
    table_.receive(message, now_);
    service_.hear(message);
  }

  /// One event: the number tells which, and how much of it.
  void act(std::uint64_t number) {
    const auto n = number / 10;
    switch (number % 10) {
    case 0:
      return add(1 + n % 20, n % 3);
    case 1:
      return deliver(1 + n % 4);
    case 2:
      return service_.work();
    case 3:
      return hear_replies(1 + n % 4);
    case 4:
      return cancel(n);
    case 5:
      return tick(std::chrono::milliseconds{n % 4'000});
    case 6:
      return table_.lose(n % 2 == 0 ? instance_id : id_of(static_cast<std::uint8_t>(n)), "is gone",
                         now_);
    case 7:
      return n % 2 == 0 ? service_.hold_back(client_id) : service_.go_on(client_id);
    case 8:
      outcome_ = static_cast<partner::outcome>(n % 3);
      return table_.send(now_, n % 2 == 1);
    default:
      return n % 2 == 0 ? service_.leave() : table_.send_bulk(now_);
    }
  }

  void check_calls() const {
    const auto& counted = table_.counters();
    check(counted.submitted == calls_.size(), "every call is counted");
    check(counted.submitted == counted.done + counted.failed + table_.unfinished(),
          "every call has a result, an error, or is unfinished");
    for (const auto& each : calls_)
      check(each->completions == (each->call->done ? 1 : 0), "a call completes once");
    for (const auto& each : calls_)
      check(each->call->done || each->deadline > ticked_, "a call completes at its timeout");
  }

  void end() {
    service_.leave();
    table_.abandon(errc::shutting_down);
    check_calls();
    check(table_.unfinished() == 0, "every call completes");
  }

private:
  struct counted_call {
    std::shared_ptr<remote_call> call;
    int completions = 0;
    request_table::time deadline{};
  };

  static remote_options of_mode(remote_mode mode) {
    remote_options result;
    result.mode = mode;
    result.parallel = 3;
    result.window_operations = 12;
    result.bulk_operations = 5;
    result.max_request_bytes = 64;
    return result;
  }

  partner::outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) override {
    const auto value = data_view::make(message);
    check(value.has_value() && (parse<request_view>(*value) || parse<cancel_request>(*value)),
          "what is sent can be read");
    if (outcome_ == partner::outcome::sent && id == instance_id)
      requests_.push_back(message_of(*value));
    return outcome_;
  }
  bool is_served() override { return outcome_ != partner::outcome::full; }

  void add(std::uint64_t n, std::uint64_t operation) {
    static constexpr const char* names[] = {"op", "again", "none"};
    for (std::uint64_t i = 0; i < n; ++i) {
      data_writer argument;
      if (i % 7 == 6)
        argument.write_string("text that is longer than the others are, by far");
      else if (i % 7 == 5)
        argument.write_none();
      else
        argument.write_count(i);
      auto each = std::make_unique<counted_call>();
      each->deadline = now_ + 5s * (1 + (operation + i) % 3);
      each->call = table_.add(names[operation], argument.bytes(), each->deadline, now_);
      // Known already if it was refused.
      if (each->call->done)
        ++each->completions;
      else
        each->call->then.push_back([its = each.get()] { ++its->completions; });
      calls_.push_back(std::move(each));
    }
    table_.send(now_);
  }

  /// The first, or a later one that has overtaken them.
  void deliver(std::uint64_t n) {
    if (requests_.empty())
      return;
    const auto which = requests_.begin() + static_cast<std::ptrdiff_t>((n - 1) % requests_.size());
    const auto message = *which;
    requests_.erase(which);
    service_.hear(message);
  }
  void hear_replies(std::uint64_t n) {
    for (; n > 0 && !service_.replies.empty(); --n) {
      const auto message = service_.replies.front();
      service_.replies.pop_front();
      table_.receive(message, now_);
    }
  }
  void cancel(std::uint64_t n) {
    if (calls_.empty())
      return;
    auto& its = *calls_[n % calls_.size()];
    const bool before = its.call->done;
    check(table_.cancel(*its.call, now_) == !before, "what is not complete can be cancelled");
  }
  void tick(std::chrono::milliseconds time) {
    now_ += time;
    table_.tick(now_);
    ticked_ = now_;
  }

  instance service_;
  partner::outcome outcome_ = partner::outcome::sent;
  std::deque<data_message> requests_;
  std::vector<std::unique_ptr<counted_call>> calls_;
  request_table::time now_{1h};
  request_table::time ticked_{};
  request_table table_; // completes calls
};

/// A vector of messages and of numbers; where the first is one of these it tells the mode.
void perform(const data_view& value) {
  const auto script = value.elements();
  auto each = script.begin();
  if (each == script.end())
    return;
  const auto mode = (*each).type() == data_type::count ? (*each).as_count() : 0;
  play it{all_remote_modes[mode % std::size(all_remote_modes)]};
  for (; each != script.end(); ++each) {
    const auto one = *each;
    if (one.type() == data_type::count)
      it.act(one.as_count());
    else
      it.hear(message_of(one));
    it.check_calls();
  }
  it.end();
}

void try_input(std::span<const std::byte> bytes) {
  const auto value = data_view::make(bytes);
  if (!value)
    return;
  read_and_write(*value);
  if (value->type() != data_type::vector)
    return;
  for (const auto& each : value->elements())
    read_and_write(each);
  perform(*value);
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
