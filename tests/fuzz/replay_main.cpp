// Drives a fuzz target without libFuzzer: seeded mutations of Broker's own values, the same every
// time. `fuzz_x x [iterations]` mutates the seeds of that format, `fuzz_x x --write-seeds DIR`
// writes them as a corpus, `fuzz_x x FILE...` replays files, e.g. a crash.
#include "support/golden.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size);

namespace {

using pubsub::test::golden_value;

void run(const std::string& input) {
  // An exact-size block, so that a sanitizer sees the first byte read too far.
  const std::vector<std::uint8_t> copy(input.begin(), input.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

std::string as_text(const pubsub::test::buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> seeds_of(const std::string& format) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& file) {
    for (const auto& x : pubsub::test::load_golden(file)) {
      out.push_back(format == "json" ? x.json : as_text(x.bytes));
      if (format == "json" && !x.json_message.empty())
        out.push_back(x.json_message);
    }
  };
  if (format == "bin" || format == "json") {
    add("data_bin_v1.json");
    add("zeek_messages.json");
  } else {
    add("wire_messages.json");
    using namespace std::string_literals;
    out.push_back("\x10\0\0\0\7"s); // version 2: asks for the status, and the answer
    out.push_back("\x11\0\0\0\7{\"id\":\"\xc3\xa4\"}"s);
  }
  return out;
}

class mutator {
public:
  mutator(const std::vector<std::string>& seeds, bool text) : seeds_(seeds), text_(text) {}

  std::string next() {
    auto x = seeds_[below(seeds_.size())];
    if (x.size() > 2000)
      x.resize(2000);
    for (auto n = 1 + below(4); n > 0; --n)
      change(x);
    return x;
  }

private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : engine_() % bound; }

  std::string token() {
    static constexpr std::string_view json[] = {"nan",
                                                "-inf",
                                                "0x",
                                                "0b1",
                                                "010",
                                                ".5",
                                                "5.",
                                                "+1",
                                                "1e999",
                                                "\\u0000",
                                                "\\ud83d\\ude00",
                                                "\\ud800",
                                                "\\v",
                                                "\\",
                                                "\"",
                                                "{",
                                                "}",
                                                "[",
                                                "]",
                                                ",",
                                                ":",
                                                "\xff",
                                                "null",
                                                "{\"@data-type\":\"none\"}",
                                                "\"@data-type\":\"set\"",
                                                "\"@data-type\":\"table\"",
                                                "\"@data-type\":\"real\"",
                                                "\"@data-type\":\"subnet\"",
                                                "18446744073709551616",
                                                "\xc4\x80"};
    static constexpr std::string_view bytes[] = {"\xff\xff\xff\xff\x0f",
                                                 "\x80\x80\x80\x80\x10",
                                                 "\x0c\x02",
                                                 "\x0d\x02",
                                                 "\x0e\x01",
                                                 "\x0e\x7f",
                                                 "\x05\x01\x61",
                                                 "\xff\xff\xff\xff\xff\xff\xff\xff",
                                                 "\x7f\xf0"};
    return std::string{text_ ? json[below(std::size(json))] : bytes[below(std::size(bytes))]};
  }

  void change(std::string& x) {
    const auto at = below(x.size() + 1);
    const auto size = below(std::min<std::size_t>(x.size() - at, 32) + 1);
    switch (below(8)) {
    case 0:
      if (at < x.size())
        x[at] = static_cast<char>(x[at] ^ (1 << below(8)));
      break;
    case 1:
      if (at < x.size())
        x[at] = static_cast<char>(below(256));
      break;
    case 2:
      x.insert(at, 1, static_cast<char>(below(16)));
      break;
    case 3:
      x.erase(at, size);
      break;
    case 4:
      x.insert(at, x.substr(at, size));
      break;
    case 5:
      x.insert(at, token());
      break;
    case 6: {
      const auto& other = seeds_[below(seeds_.size())];
      const auto from = below(other.size() + 1);
      x.replace(at, size, other.substr(from, below(64)));
      break;
    }
    default:
      x.resize(at);
    }
  }

  const std::vector<std::string>& seeds_;
  bool text_;
  std::mt19937_64 engine_{20240229};
};

int write_seeds(const std::vector<std::string>& seeds, const std::string& folder) {
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream out{folder + "/seed" + std::to_string(i), std::ios::binary};
    out.write(seeds[i].data(), static_cast<std::streamsize>(seeds[i].size()));
    if (!out)
      return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FORMAT [ITERATIONS | --write-seeds DIR | FILE...]\n", argv[0]);
    return 1;
  }
  const std::string format = argv[1];
  const std::string first = argc > 2 ? argv[2] : "100000";
  const auto seeds = seeds_of(format);
  if (first == "--write-seeds")
    return argc > 3 ? write_seeds(seeds, argv[3]) : 1;
  char* end = nullptr;
  const auto iterations = std::strtoull(first.c_str(), &end, 10);
  if (*end != '\0') {
    for (int i = 2; i < argc; ++i) {
      std::ifstream in{argv[i], std::ios::binary};
      run({std::istreambuf_iterator<char>{in}, {}});
    }
    return 0;
  }
  for (const auto& seed : seeds)
    run(seed);
  mutator mutate{seeds, format == "json"};
  for (std::uint64_t i = 0; i < iterations; ++i)
    run(mutate.next());
  std::printf("%zu seeds and %llu mutations\n", seeds.size(), iterations);
  return 0;
}
