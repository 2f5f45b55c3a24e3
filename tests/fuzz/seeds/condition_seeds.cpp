// Inputs that fuzz_condition and fuzz_condition_value begin with.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/seeds/seeds.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::fuzz::condition_seeds {

namespace {

std::vector<std::string> texts() {
  return {"id.resp_p == 443/tcp && n > 1000 && a in 10.0.0.0/8",
          "!(uid in {\"C\"*, \"x\\x00\"} || 1 in 1000 by uid) and not exists($1.2)",
          "tags has {10.0.0.1, 2001:db8::/32} or b != Conn::LOG || `odd name` == `odd label`",
          "@event == \"log_conn\" && @topic.1 in \"zeek\"..\"zeel\" && @size <= 1e3 && $ == -5",
          "a in {2026-01-31T12:00:00.5Z..2027-01-01, 2028-01-01} || a < 1500ms || 3 in 10",
          "((a == true)) && (a == false || a == 1.5e-7)",
          "a in /^x\\/[a-z]+$/",
          "a == 10.0.0.300",
          "(((((((((((((((((((a == 1",
          "a in {1, \"x\"}"};
}

std::vector<std::string> text_words() {
  return {
      "&&",  "||",    "!",         "==",     "!=",   "<=",       ">=",    "..",
      "in",  "has",   "exists(",   "by",     "not ", "true",     "\"x\"", "1/tcp",
      "::1", "/8",    "{1,",       "@event", "$0",   "@topic.0", "5s",    "2026-01-31T00:00:00Z",
      "`",   "\\x00", " in 10 by "};
}

std::vector<std::string> values() {
  auto out = golden_bytes({"data_bin_v1.json", "zeek_messages.json"});
  const auto add = [&](const data& x) { out.push_back(as_text(*encode_binary(x))); };
  add(zeek::make_log_event("conn", vector{"x", port{80, transport::tcp}, none{}}));
  zeek::log_schema schema;
  schema.path = "conn";
  schema.fields = {{"ts", "time"}, {"uid", "string"}, {"resp_p", "port"}};
  add(zeek::make_log_fields_event(schema));
  add(zeek::make_event("Site::seen", vector{count{1}, vector{1.5, "a", none{}}}));
  add(vector{set{count{1}, "a"}, table{{"a", count{1}}}, *address::parse("10.0.0.1")});
  return out;
}

const target_seeds parser{"condition", texts, text_words};
const target_seeds evaluator{"condition_value", values, binary_words};

} // namespace

} // namespace pubsub::fuzz::condition_seeds
