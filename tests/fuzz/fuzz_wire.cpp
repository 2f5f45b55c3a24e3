// Any bytes as frames of Broker's protocol: envelopes parse to nothing or to what they hold,
// filters are written as they were read, and a handshake ends or goes on, whatever it hears.
#include "fuzz/check.hpp"
#include "wire/batch.hpp"
#include "wire/envelope.hpp"
#include "wire/handshake.hpp"
#include "wire/network.hpp"
#include "wire/status_frame.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace pubsub;

namespace {

void try_envelope(std::span<const std::byte> bytes) {
  const auto x = wire::parse_envelope(bytes);
  if (!x)
    return;
  fuzz::check(wire::envelope_header_bytes + x->topic.size() + x->payload.size() == bytes.size(),
              "an envelope is made of its fields");
  const auto announced = wire::parse_filter(x->payload);
  if (!announced)
    return;
  std::vector<std::byte> again;
  wire::append_filter(again, *announced);
  fuzz::check(wire::parse_filter(again) == announced, "a filter is read as it was written");
}

void try_batch(std::span<const std::byte> bytes) {
  if (const auto x = wire::parse_batch(bytes)) {
    std::vector<std::byte> again(wire::batch_header_bytes);
    wire::write_batch_header(again.data(), x->header, x->records.size());
    fuzz::check(std::ranges::equal(std::span{again}.subspan(5),
                                   bytes.subspan(1, wire::batch_header_bytes - 5)),
                "a batch header is written as it was read");
    const auto check = wire::check_records(x->records, x->header.messages, 256);
    auto rest = x->records;
    for (auto n = x->header.messages; n > 0 && check != wire::records_check::malformed; --n) {
      fuzz::check(rest.size() >= record_header_bytes && record_bytes(rest.data()) <= rest.size(),
                  "a record ends inside its batch");
      rest = rest.subspan(record_bytes(rest.data()));
    }
  }
  if (const auto x = wire::parse_topics(bytes))
    fuzz::check(x->first + x->topics.size() <= topic_table::max_topics, "topics have numbers");
}

void try_status_frame(std::span<const std::byte> bytes) {
  const auto x = wire::parse_status_frame(bytes);
  if (!x)
    return;
  const auto again = x->kind == wire::status_kind::request
                         ? wire::make_status_request(x->number)
                         : wire::make_status_reply(x->number, x->text);
  fuzz::check(std::ranges::equal(std::span{again}.subspan(4), bytes),
              "a status frame is written as it was read");
}

/// What is read is written as it was, but for spellings of counts and flags without a meaning.
template <class Parse, class Make>
void try_frame(std::span<const std::byte> bytes, Parse parse, Make make) {
  const auto x = parse(bytes);
  if (!x)
    return;
  const auto once = make(*x);
  const auto again = parse(std::span{once}.subspan(4));
  fuzz::check(again && make(*again) == once, "a frame is read as it was written");
}

void try_network(std::span<const std::byte> bytes) {
  auto report = [](const auto& x) { return wire::make_report(x); };
  try_frame(bytes, wire::parse_neighbours, report);
  try_frame(bytes, wire::parse_wants, report);
  try_frame(bytes, wire::parse_question, wire::make_question);
  try_frame(bytes, wire::parse_answer, wire::make_answer);
  try_frame(bytes, wire::parse_credit, wire::make_credit);
}

/// The first byte picks the role; the rest is cut into frames by its own lengths.
void try_handshake(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return;
  const bool connecting = (bytes[0] & std::byte{1}) == std::byte{};
  const auto role = connecting ? wire::tcp_role::connecting : wire::tcp_role::accepting;
  endpoint_id::bytes_type id;
  id.fill(0x18);
  std::size_t sent = 0;
  wire::handshake machine{
      role,
      {.self = endpoint_id{id},
       .max_version = 2,
       .local_filter = [](const endpoint_id&) { return filter{"/t"}; },
       .admit = [](const endpoint_id&, bool) { return wire::admission::proceed; },
       .is_known = [](const endpoint_id&) { return false; },
       .send = [&](std::span<const std::byte>) { ++sent; }}};
  machine.start();
  using outcome = wire::handshake::outcome;
  for (auto rest = bytes; machine.state() == outcome::running && !rest.empty();) {
    const auto length = static_cast<std::size_t>(rest.size() > 3 ? rest[3] : std::byte{});
    const auto size = std::min(rest.size(), 4 + length);
    machine.receive(size > 4 ? rest.subspan(4, size - 4) : rest);
    rest = rest.subspan(size);
  }
  fuzz::check(sent <= 4, "a handshake says little");
  fuzz::check((machine.state() == outcome::failed) == static_cast<bool>(machine.failure()),
              "a failure has a reason");
  fuzz::check(machine.state() != outcome::peered || !machine.remote().is_nil(), "a peer has an id");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  const std::span bytes{reinterpret_cast<const std::byte*>(input), size};
  try_envelope(bytes);
  try_batch(bytes);
  try_network(bytes);
  try_status_frame(bytes);
  try_handshake(bytes);
  std::vector<std::byte> framed;
  for (int i = 0; i < 3; ++i) { // hear a handshake message alone, too
    const auto frame = wire::make_frame(bytes);
    framed.insert(framed.end(), frame.begin(), frame.end());
  }
  if (size < 256)
    try_handshake(framed);
  return 0;
}
