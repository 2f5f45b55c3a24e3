// Damaged input for every reader of Zeek text: seeded, the same in every run.
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/event.hpp>

#include "zeek_logs/event_dump.hpp"
#include "zeek_logs/log_reader.hpp"

using namespace pubsub;

namespace {

constexpr int rounds = 20'000;

class mutator {
public:
  explicit mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}

  std::string next() {
    auto line = seeds_[below(seeds_.size())];
    for (auto n = below(4); n > 0; --n)
      change(line);
    return line;
  }

private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void change(std::string& line) {
    static constexpr std::string_view pieces[] = {"\t",
                                                  ",",
                                                  "-",
                                                  "(empty)",
                                                  "\\x",
                                                  "\\x09",
                                                  "\\\\",
                                                  "#",
                                                  "e308",
                                                  "-1",
                                                  "nan",
                                                  "inf",
                                                  "::",
                                                  "/",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  ":",
                                                  "null",
                                                  "1e400",
                                                  "18446744073709551616",
                                                  "\\ud800",
                                                  "\xff",
                                                  "set[",
                                                  "vector[set[addr]]"};
    auto at = below(line.size() + 1);
    switch (below(4)) {
    case 0:
      line.insert(at, pieces[below(std::size(pieces))]);
      break;
    case 1:
      line.erase(at, below(8));
      break;
    case 2:
      if (at < line.size())
        line[at] = static_cast<char>(random_());
      break;
    default:
      line.insert(at, line.substr(below(line.size() + 1), below(30)));
    }
  }

  std::mt19937 random_{42};
  std::vector<std::string> seeds_;
};

// What a reader makes of any line must be a value that can be encoded and read again.
void check_value(const data& x) {
  auto bytes = encode_binary(x);
  REQUIRE(bytes);
  CHECK(data_view::make(*bytes));
}

void check_log(zeek::log_parser& parser, const std::vector<std::string>& header, mutator lines) {
  int good = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i % 10 == 0)
      for (const auto& line : header)
        REQUIRE(parser.parse(line));
    auto record = parser.parse(lines.next());
    if (!record) {
      CHECK_FALSE(record.error().context().empty());
    } else if (*record) {
      CHECK((*record)->size() == parser.schema().fields.size());
      check_value(data{std::move(**record)});
      ++good;
    }
  }
  CHECK(good > rounds / 20); // the mutations are not all fatal
}

} // namespace

TEST_CASE("damaged TSV logs give values or errors") {
  auto parser = zeek::make_tsv_log_parser("x");
  const std::vector<std::string> header{"#separator \\x09",
                                        "#set_separator\t,",
                                        "#empty_field\t(empty)",
                                        "#unset_field\t-",
                                        "#fields\tts\ta\tproto\tp\ts",
                                        "#types\ttime\taddr\tenum\tport\tset[double]"};
  auto seeds = header;
  for (int i = 0; i < 6; ++i)
    seeds.insert(seeds.end(), {"1.5\t::1\ttcp\t80\t1.5,2", "-1e-9\t10.0.0.1\tudp\t-\t(empty)"});
  check_log(*parser, header, mutator{seeds});
}

TEST_CASE("damaged JSON logs give values or errors") {
  auto parser = zeek::make_json_log_parser("x");
  check_log(
      *parser, {},
      mutator{
          {R"({"ts":1.5,"id.orig_h":"::1","id.orig_p":80,"proto":"tcp","duration":1e-06,"n":[1,-2,0.5,null]})",
           R"({"_path":"dns","ts":"2023-11-14T22:13:20.5Z","host":"a","flag":true,"deep":{"a":[[{}]]}})"}});
}

TEST_CASE("damaged event dumps give values or errors") {
  zeek::event_dump_parser parser;
  mutator lines{
      {R"({"ts":1.5,"event":"a","args":{"p":{"port":53,"proto":"udp"},"d":"2.0 mins 1.5 secs","l":"A::B_C"}})",
       R"({"event":"b","args":{"c":{"id":{"orig_h":"::1"},"s":[1,"2 secs",{"port":1,"proto":"x"}]}}})"}};
  int good = 0;
  for (int i = 0; i < rounds; ++i) {
    auto event = parser.parse(lines.next());
    if (!event || !*event)
      continue;
    check_value(zeek::make_event((*event)->name, (*event)->args, (*event)->time));
    ++good;
  }
  CHECK(good > rounds / 20);
}
