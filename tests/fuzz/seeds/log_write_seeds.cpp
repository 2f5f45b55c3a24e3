// Inputs that fuzz_log_write begins with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include "support/log_values.hpp"

namespace pubsub::fuzz::log_write_seeds {

namespace {

std::vector<std::string> seeds() {
  using namespace std::chrono_literals;
  const auto log = [](vector record) { return test::log_values_writer::write(record); };
  const auto value = [](const char* hex) { return from_hex("00000001" + std::string{hex}); };
  std::vector<std::string> out{
      log({none{}, true, count{7}, integer{-7}, 1.5, "text", *address::parse("::1"),
           *subnet::parse("10.0.0.0/8"), *subnet::parse("2001:db8::/32"), port{80, transport::tcp},
           timestamp{1'700'000'000s}, timespan{1500ns}, enum_value{"A::B"}, set{"a", "b"},
           vector{none{}, set{}}, *address::parse("192.0.2.1")}),
      log({}),
      value("00000005 00000016 01 3ff0000000000000"),
      value("00000011 00000016 01 00000001 61"),
      value("00000012 00000016 01 00000001 61"),
      value("00000008 00000016 01"),
      value("00000017 00000016 00"),
      value("0000000a 00000016 01 0000000000010000 00000001"),
      value("0000000b 00000016 01 05"),
      value("0000000c 00000016 01 10 04 c0a80000"),
      value("0000000e 00000002 01 0000000000000002 00000002 00000016 00 00000002 00000016 00"),
      value("0000000e 00000002 01 ffffffffffffffff"),
      value("00000013 00000002 01 7fffffffffffffff"),
      value("00000007 00000016 01 ffffffff"),
      value("00000007 00000016 01 00000009"),
      value("0000000b 00000016 01 06 00"),
      value("00000005 00000016 01 7ff0000000000000"),
      from_hex("ffffffff"),
      from_hex("7fffffff"),
      from_hex("00000000 00"),
      std::string{"serial\0data\0", 12}};
  vector deep;
  for (int level = 0; level < 70; ++level) {
    vector outer;
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  out.push_back(log(deep));
  return out;
}

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (int type = 0; type < 23; ++type)
    out.push_back(std::string{"\0\0\0", 3} + static_cast<char>(type) + from_hex("00000016 01"));
  out.push_back(from_hex("00000016 00"));
  out.push_back(from_hex("0000000000000001"));
  return out;
}

const target_seeds announced{"log_write", seeds, words};

} // namespace

} // namespace pubsub::fuzz::log_write_seeds
