// SPDX-License-Identifier: BSD-3-Clause
#include "support/handshake_party.hpp"
#include "support/hex.hpp"
#include "support/ids.hpp"
#include "wire/broker/envelope.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

using namespace pubsub;
using namespace pubsub::test;

namespace {

std::string id_hex(char digit) {
  return std::string(32, digit);
}

const std::string probe = "00000005 07 5a45454b";
const std::string hello_of_low = "00000017 06 5a45454b" + id_hex('1') + "0101";
const std::string hello_of_high = "00000017 06 5a45454b" + id_hex('3') + "0101";
const std::string select_of_low = "00000016 08 5a45454b" + id_hex('1') + "01";
const std::string syn_frame = "00000007 0a 02 022f61 0162";
const std::string syn_ack_frame = "00000007 0b 02 022f61 0162";
const std::string ack_frame = "00000001 0c";
const std::string drop_39 = "00000018 09 5a45454b" + id_hex('3') + "27 01 78";
const std::string every_frame[] = {probe,     hello_of_low,  hello_of_high, select_of_low,
                                   syn_frame, syn_ack_frame, ack_frame,     drop_39};

/// A state a handshake of endpoint 22.. can be in, with what leads there and what may come next.
struct stage {
  const char* name;
  tcp_role role;
  std::vector<std::string> heard;
  std::vector<std::string> expected;
};

const std::vector<stage> stages = {
    {"connected, nothing heard", tcp_role::connecting, {}, {hello_of_high, select_of_low, drop_39}},
    {"connected, originates", tcp_role::connecting, {hello_of_high}, {syn_ack_frame, drop_39}},
    {"connected, answers", tcp_role::connecting, {select_of_low}, {syn_frame, drop_39}},
    {"connected, has answered",
     tcp_role::connecting,
     {select_of_low, syn_frame},
     {ack_frame, drop_39}},
    {"accepted, nothing heard", tcp_role::accepting, {}, {hello_of_high, hello_of_low, drop_39}},
    {"accepted, originates", tcp_role::accepting, {hello_of_high}, {syn_ack_frame, drop_39}},
    {"accepted, said hello", tcp_role::accepting, {hello_of_low}, {select_of_low, drop_39}},
    {"accepted, answers", tcp_role::accepting, {hello_of_low, select_of_low}, {syn_frame, drop_39}},
    {"accepted, has answered",
     tcp_role::accepting,
     {hello_of_low, select_of_low, syn_frame},
     {ack_frame, drop_39}},
};

std::unique_ptr<party> party_at(const stage& where) {
  auto us = std::make_unique<party>(where.role, filled_id(0x22));
  for (const auto& each : where.heard)
    us->hear(each);
  us->take_sent();
  return us;
}

} // namespace

TEST_CASE("in every state exactly the expected messages go on, and a probe is ignored") {
  for (const auto& where : stages)
    for (const auto& frame : every_frame) {
      CAPTURE(where.name);
      CAPTURE(frame);
      auto us = party_at(where);
      REQUIRE(us->machine.state() == outcome::running);
      const auto result = us->hear(frame);
      const bool expected = std::ranges::find(where.expected, frame) != where.expected.end();
      if (frame == probe) {
        CHECK(result == outcome::running);
        CHECK(us->sent.empty());
      } else if (frame == drop_39) {
        CHECK(us->machine.failure() == errc::redundant_connection);
      } else if (expected) {
        CHECK((result == outcome::running || result == outcome::peered));
      } else {
        CHECK(result == outcome::failed);
        CHECK(us->machine.failure() == errc::unexpected_handshake_message);
        CHECK(us->sent.empty()); // state errors close without a drop_conn
      }
    }
}

TEST_CASE("a handshake that is decided ignores whatever follows") {
  for (const auto how : {admission::redundant, admission::illegal, admission::closing}) {
    party us{tcp_role::accepting, filled_id(0x22)};
    us.answer = how;
    const auto result = us.hear(hello_of_high);
    CHECK(result == (how == admission::redundant ? outcome::redundant : outcome::failed));
    const auto code = us.machine.failure().code();
    const auto said = us.sent.size();
    for (const auto& frame : every_frame)
      CHECK(us.hear(frame) == result);
    CHECK(us.hear("00000000") == result);
    CHECK(us.machine.failure() == code);
    CHECK(us.sent.size() == said);
  }
}

TEST_CASE("each refusal of admission has its code") {
  for (const auto& [how, code] :
       {std::pair{admission::redundant, 39}, {admission::illegal, 40}, {admission::closing, 28}}) {
    party us{tcp_role::accepting, filled_id(0x22)};
    us.answer = how;
    us.hear(hello_of_high);
    REQUIRE(us.sent.size() == 2);
    CHECK(static_cast<int>(us.sent[1].at(4)) == 9);
    CHECK(static_cast<int>(us.sent[1].at(25)) == code);
  }
}

TEST_CASE("a paused handshake goes on, is refused, or is dropped by the peer") {
  auto paused = [] {
    auto us = std::make_unique<party>(tcp_role::accepting, filled_id(0x22));
    us->answer = admission::pause;
    CHECK(us->hear(hello_of_high) == outcome::paused);
    CHECK(us->sent.size() == 1); // the probe only
    us->take_sent();
    return us;
  };
  auto us = paused();
  CHECK(us->machine.proceed_now() == outcome::running);
  CHECK(us->sent.size() == 2);
  CHECK(us->hear(syn_ack_frame) == outcome::peered);
  us = paused();
  CHECK(us->hear(probe) == outcome::paused);
  CHECK(us->machine.reject(errc::redundant_connection, "x") == outcome::redundant);
  us = paused();
  us->known = true;
  CHECK(us->hear(drop_39) == outcome::redundant);
  us = paused();
  CHECK(us->hear(syn_ack_frame) == outcome::failed);
  CHECK(us->machine.proceed_now() == outcome::failed);
  CHECK(us->sent.empty());
}

TEST_CASE("a peer that changes its id or lets the larger one originate is refused") {
  party us{tcp_role::accepting, filled_id(0x22)};
  us.hear(hello_of_low);
  CHECK(us.hear("00000016 08 5a45454b" + id_hex('2') + "01") == outcome::failed);
  party connecting{tcp_role::connecting, filled_id(0x22)};
  CHECK(connecting.hear("00000016 08 5a45454b" + id_hex('3') + "01") == outcome::failed);
  CHECK(connecting.machine.failure() == errc::invalid_handshake_state);
}

TEST_CASE("a peer without an id is refused") {
  party accepting{tcp_role::accepting, filled_id(0x22)};
  CHECK(accepting.hear("00000017 06 5a45454b" + id_hex('0') + "0101") == outcome::failed);
  party connecting{tcp_role::connecting, filled_id(0x22)};
  CHECK(connecting.hear("00000016 08 5a45454b" + id_hex('0') + "01") == outcome::failed);
  CHECK(connecting.asked.empty());
}

TEST_CASE("codes of a drop_conn are passed on, unknown ones as unspecified") {
  for (const auto& [hex, code] : {std::pair{"02", errc::peer_incompatible},
                                  {"1c", errc::shutting_down},
                                  {"29", errc::unspecified},
                                  {"ff", errc::unspecified},
                                  {"00", errc::unspecified}}) {
    party us{tcp_role::connecting, filled_id(0x22)};
    CHECK(us.hear("00000018 09 5a45454b" + id_hex('1') + hex + "01 78") == outcome::failed);
    CHECK(us.machine.failure() == code);
    CHECK(us.machine.failure().context().ends_with("x"));
  }
}

TEST_CASE("bytes behind a well-formed message do not matter, as for Broker") {
  party us{tcp_role::accepting, filled_id(0x22)};
  CHECK(us.hear("00000019 06 5a45454b" + id_hex('3') + "0101 beef") == outcome::running);
  CHECK(us.sent.size() == 3);
}

TEST_CASE("bytes behind a filter do not matter in a handshake either") {
  party originator{tcp_role::accepting, filled_id(0x22)};
  originator.hear(hello_of_high);
  CHECK(originator.hear("00000009 0b 02 022f61 0162 beef") == outcome::peered);
  CHECK(originator.machine.remote_filter() == filter{"/a", "b"});
}

TEST_CASE("what cannot be read is refused with code 20, in Broker's words, in every state") {
  const struct {
    const char* hex;
    std::string_view words;
  } broken[] = {{"00000003 06 5a45", "failed to parse hello_msg"},
                {"00000003 07 5a45", "failed to parse probe_msg"},
                {"00000005 08 5a45454b", "failed to parse version_select_msg"},
                {"00000005 09 5a45454b", "failed to parse drop_conn_msg"},
                {"00000003 0a 01 02", "failed to parse v1::originator_syn_msg"},
                {"00000003 0b 01 02", "failed to parse v1::responder_syn_ack_msg"},
                {"00000001 01", "invalid message type tag"}};
  for (const auto& where : stages)
    for (const auto& each : broken) {
      CAPTURE(where.name);
      CAPTURE(each.hex);
      auto us = party_at(where);
      CHECK(us->hear(each.hex) == outcome::failed);
      CHECK(us->machine.failure() == errc::invalid_message);
      REQUIRE(us->sent.size() == 1);
      const auto& said = us->sent[0];
      CHECK(static_cast<int>(said.at(4)) == 9);
      CHECK(static_cast<int>(said.at(25)) == 20);
      CHECK(said.size() == 27 + each.words.size());
      CHECK(std::memcmp(said.data() + 27, each.words.data(), each.words.size()) == 0);
    }
}

TEST_CASE("a wrong magic number is refused with code 38 in every message that has one") {
  for (const auto& hex :
       {std::string{"00000005 07 5a45454c"}, "00000017 06 5a45454c" + id_hex('3') + "0101",
        "00000016 08 5a45454c" + id_hex('1') + "01",
        "00000018 09 5a45454c" + id_hex('3') + "27 01 78"})
    for (const auto& where : stages) {
      auto us = party_at(where);
      us->known = true;
      CHECK(us->hear(hex) == outcome::failed);
      CHECK(us->machine.failure() == errc::wrong_magic_number);
      REQUIRE(us->sent.size() == 1);
      CHECK(static_cast<int>(us->sent[0].at(25)) == 38);
    }
}

TEST_CASE("every truncation of every frame fails or is ignored, in every state") {
  for (const auto& where : stages)
    for (const auto& hex : every_frame) {
      const auto frame = from_hex(hex);
      for (std::size_t size = 4; size < frame.size(); ++size) {
        auto us = party_at(where);
        const auto cut = buffer(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK(us->hear(cut) == outcome::failed);
        CHECK(us->machine.failure());
      }
    }
}

TEST_CASE("every change of one byte of an expected frame leaves a state that makes sense") {
  for (const auto& where : stages)
    for (const auto& hex : where.expected) {
      auto frame = from_hex(hex);
      for (std::size_t at = 4; at < frame.size(); ++at)
        for (int value = 0; value < 256; ++value) {
          const auto original = std::exchange(frame[at], static_cast<std::byte>(value));
          auto us = party_at(where);
          const auto result = us->hear(frame);
          CHECK(result != outcome::paused);
          CHECK((result == outcome::failed) == static_cast<bool>(us->machine.failure()));
          CHECK((result != outcome::peered || !us->machine.remote().is_nil()));
          frame[at] = original;
        }
    }
}

TEST_CASE("two endpoints agree on the highest version both speak") {
  for (const std::uint8_t low_speaks : {1, 2})
    for (const std::uint8_t high_speaks : {1, 2})
      for (const auto low_role : {tcp_role::connecting, tcp_role::accepting}) {
        const bool connects = low_role == tcp_role::connecting;
        party low{low_role, filled_id(0x11), {"/low"}, low_speaks};
        party high{connects ? tcp_role::accepting : tcp_role::connecting,
                   filled_id(0x33),
                   {"/high"},
                   high_speaks};
        for (bool more = true; more;) {
          const auto from_low = low.take_sent();
          for (const auto& frame : from_low)
            high.hear(frame);
          const auto from_high = high.take_sent();
          for (const auto& frame : from_high)
            low.hear(frame);
          more = !from_low.empty() || !from_high.empty();
        }
        CHECK(low.machine.state() == outcome::peered);
        CHECK(high.machine.state() == outcome::peered);
        CHECK(low.machine.version() == std::min(low_speaks, high_speaks));
        CHECK(high.machine.version() == low.machine.version());
      }
}

namespace {

/// The side that answers a smaller id, once it has heard all but that one's last word.
struct answering {
  explicit answering(std::uint8_t version)
      : low{tcp_role::connecting, filled_id(0x11), {"/low"}, version}, high{tcp_role::accepting,
                                                                            filled_id(0x33),
                                                                            {"/high"},
                                                                            version} {
    for (int i = 0; i < 2; ++i) {
      for (const auto& frame : low.take_sent())
        state = high.hear(frame);
      for (const auto& frame : high.take_sent())
        low.hear(frame);
    }
    last_word = low.take_sent();
  }

  party low, high;
  outcome state = outcome::running;
  std::vector<buffer> last_word;
};

} // namespace

TEST_CASE("in version 2 who answers is peered before the last word of the other side has come") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(static_cast<int>(version));
    answering x{version};
    CHECK(x.low.machine.state() == outcome::peered);
    CHECK(x.low.machine.over());
    CHECK(x.state == (version == 1 ? outcome::running : outcome::peered));
    CHECK_FALSE(x.high.machine.over());
    REQUIRE(x.last_word.size() == 1);
    CHECK(x.high.hear(x.last_word[0]) == outcome::peered);
    CHECK(x.high.machine.over());
    CHECK(x.high.sent.empty());
    CHECK(x.high.asked.size() == 1);
  }
}

TEST_CASE("who answers in version 2 fails if something else than the last word comes") {
  for (const auto& hex : every_frame) {
    answering x{2};
    const auto frame = from_hex(hex);
    if (frame == x.last_word[0])
      continue;
    CHECK(x.high.hear(frame) == outcome::failed);
    CHECK(x.high.machine.failure());
  }
  answering x{2};
  CHECK(x.high.hear("0000001e 09 5a45454b" + id_hex('1') + "1c 0774686520656e64") ==
        outcome::failed);
  CHECK(x.high.machine.failure().context() == "the peer refused: the end");
}

TEST_CASE("both sides of version 2 tell their names, and one that cannot be shown counts as none") {
  for (const std::string name : {"sensor-1", "", "\x1b[2J", "two words"}) {
    CAPTURE(name);
    party a{tcp_role::connecting, filled_id(1), {}, 2, true, name};
    party b{tcp_role::accepting, filled_id(2), {}, 2, false, "relay"};
    for (int i = 0; i < 4; ++i) {
      for (const auto& each : a.take_sent())
        b.hear(each);
      for (const auto& each : b.take_sent())
        a.hear(each);
    }
    CHECK(a.machine.state() == outcome::peered);
    CHECK(b.machine.state() == outcome::peered);
    CHECK(a.machine.remote_name() == "relay");
    CHECK(b.machine.remote_name() == (name == "sensor-1" ? name : ""));
    CHECK(b.machine.remote_is_client());
  }
}

TEST_CASE("a version nobody has offered is refused") {
  party us{tcp_role::connecting, filled_id(0x22), {}, 2};
  CHECK(us.hear("00000016 08 5a45454b" + id_hex('1') + "03") == outcome::failed);
  CHECK(us.machine.failure() == errc::peer_incompatible);
  party old{tcp_role::connecting, filled_id(0x22), {}, 1};
  CHECK(old.hear("00000016 08 5a45454b" + id_hex('1') + "02") == outcome::failed);
  party strict{tcp_role::accepting, filled_id(0x22), {}, 2};
  CHECK(strict.hear("00000017 06 5a45454b" + id_hex('3') + "0309") == outcome::failed);
}
