// The main function of every fuzz target (docs/decisions/016). See `usage`.
#include "fuzz/engine/coverage.hpp"
#include "fuzz/engine/input_block.hpp"
#include "fuzz/engine/mutator.hpp"
#include "fuzz/engine/supervisor.hpp"
#include "fuzz/target.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace pubsub::fuzz;

constexpr auto usage = R"(usage: %s [options] [FILE...]
Tries inputs on one decoder. With FILEs, each of them once, in this process: to see a finding again.
Otherwise seeds, and then changes of them that are kept where they make the decoder do something
new, if the build tells (preset fuzz).

  --seconds N    how long (1)
  --seed N       of the random changes (1); the same seed tries the same inputs
  --corpus DIR   more inputs to begin with; those found to be of use are added to it
  --findings DIR where to put an input that the decoder fails on (.)
Status: 0 nothing found, 1 a finding, 2 usage.
)";

struct options {
  double seconds = 1;
  std::uint64_t seed = 1;
  std::string corpus;
  std::string findings = ".";
  std::vector<std::string> files;
};

template <class T>
bool read_number(const std::string& text, T& out) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc{} && end == text.data() + text.size() && out >= 0;
}

bool read_options(const std::vector<std::string>& args, options& out) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("--")) {
      out.files.push_back(args[i]);
      continue;
    }
    if (i + 1 == args.size())
      return false;
    const auto& value = args[i + 1];
    if (args[i] == "--seconds" ? !read_number(value, out.seconds)
        : args[i] == "--seed"  ? !read_number(value, out.seed)
                               : false)
      return false;
    if (args[i] == "--corpus")
      out.corpus = value;
    else if (args[i] == "--findings")
      out.findings = value;
    else if (args[i] != "--seconds" && args[i] != "--seed")
      return false;
    ++i;
  }
  return true;
}

std::string read_file(const std::string& name) {
  std::ifstream in{name, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// A name that is the same for the same bytes.
std::string name_of(const std::string& bytes) {
  std::uint64_t sum = 0xcbf29ce484222325u; // FNV-1a
  for (const auto c : bytes)
    sum = (sum ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

/// Returns the name of the file.
std::string write_file(const std::string& folder, const std::string& prefix,
                       const std::string& bytes) {
  std::filesystem::create_directories(folder);
  auto name = folder + "/" + prefix + name_of(bytes);
  std::ofstream{name, std::ios::binary} << bytes;
  return name;
}

class campaign {
public:
  campaign(const options& wanted, progress& shared)
      : wanted_(wanted), shared_(shared), block_(progress::max_input_bytes),
        mutate_(wanted.seed, words(), max_mutated_bytes) {}

  void run() {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                               std::chrono::duration<double>{wanted_.seconds});
    for (auto& each : seeds())
      add(std::move(each));
    add_corpus();
    for (std::uint64_t n = 0; n % 16 != 0 || std::chrono::steady_clock::now() < until; ++n) {
      auto x = mutate_.next(corpus_);
      if (run_one(x))
        keep(std::move(x));
    }
  }

private:
  static constexpr std::size_t max_mutated_bytes = 4096;

  void add(std::string x) {
    x.resize(std::min(x.size(), progress::max_input_bytes));
    run_one(x);
    corpus_.push_back(std::move(x));
    shared_.corpus = corpus_.size();
  }
  void add_corpus() {
    if (wanted_.corpus.empty() || !std::filesystem::is_directory(wanted_.corpus))
      return;
    std::vector<std::string> names; // in one order everywhere
    for (const auto& each : std::filesystem::directory_iterator{wanted_.corpus})
      names.push_back(each.path().string());
    std::sort(names.begin(), names.end());
    for (const auto& each : names)
      add(read_file(each));
  }
  void keep(std::string x) {
    if (!wanted_.corpus.empty())
      write_file(wanted_.corpus, "", x);
    corpus_.push_back(std::move(x));
    mutate_.learn(comparisons());
    shared_.corpus = corpus_.size();
    shared_.edges = edges();
  }
  bool run_one(const std::string& x) {
    x.copy(shared_.input, x.size());
    shared_.input_bytes = x.size();
    const auto bytes = block_.put(x);
    begin_tracing();
    try_input(bytes);
    ++shared_.executions;
    return found_something_new();
  }

  const options& wanted_;
  progress& shared_;
  input_block block_;
  mutator mutate_;
  std::vector<std::string> corpus_;
};

int replay(const options& wanted) {
  input_block block{progress::max_input_bytes};
  for (const auto& each : wanted.files) {
    auto bytes = read_file(each);
    bytes.resize(std::min(bytes.size(), progress::max_input_bytes));
    try_input(block.put(bytes));
    std::printf("%s: nothing found\n", each.c_str());
  }
  return 0;
}

int search(const std::string& target, const options& wanted) {
  const auto result = supervise(
      [&](progress& shared) {
        campaign{wanted, shared}.run();
        if (!is_guided())
          shared.edges = 0;
      },
      std::chrono::seconds{30});
  std::printf("%s: %llu executions, %llu edges, %llu inputs kept, seed %llu: %s\n", target.c_str(),
              static_cast<unsigned long long>(result.executions),
              static_cast<unsigned long long>(result.edges),
              static_cast<unsigned long long>(result.corpus),
              static_cast<unsigned long long>(wanted.seed),
              result.cause.empty() ? "nothing found" : "FOUND SOMETHING");
  if (result.cause.empty())
    return 0;
  const auto file = write_file(wanted.findings, target + "-", result.input);
  std::printf("%s: %s; the input: %s\n", target.c_str(), result.cause.c_str(), file.c_str());
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  options wanted;
  if (!read_options({argv + 1, argv + argc}, wanted)) {
    std::fprintf(stderr, usage, argv[0]);
    return 2;
  }
  if (!wanted.files.empty())
    return replay(wanted);
  return search(std::filesystem::path{argv[0]}.filename().string(), wanted);
}
