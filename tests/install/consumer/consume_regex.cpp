// Uses the component regex.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/binary.hpp>
#include <pubsub/regex.hpp>

#include <cstdio>

int main() {
  pubsub::condition_options options;
  options.regex = &pubsub::make_re2_matcher;
  const auto made = pubsub::condition::make("$ in /^con+$/", options);
  if (!made)
    return std::fprintf(stderr, "%s\n", made.error().message().c_str()), 1;
  const auto bytes = pubsub::encode_binary(pubsub::data{"conn"});
  return bytes && made->judge("t", *bytes) == pubsub::condition_verdict::yes ? 0 : 1;
}
