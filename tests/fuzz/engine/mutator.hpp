// New inputs from old ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fuzz/engine/coverage.hpp"

namespace pubsub::fuzz {

/// The same sequence for the same seed and the same questions.
class mutator {
public:
  mutator(std::uint64_t seed, std::vector<std::string> words, std::size_t max_bytes)
      : engine_(seed), words_(std::move(words)), max_bytes_(max_bytes) {}

  /// One of `corpus`, changed in one to eight places; those found last are taken most often.
  std::string next(std::span<const std::string> corpus);
  /// What the run of an input compared; the next inputs make some of that equal.
  void learn(std::span<const comparison> compared);
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : engine_() % bound; }

private:
  void change(std::string& x, std::span<const std::string> corpus);
  void change_byte(std::string& x);
  void change_number(std::string& x);
  void change_piece(std::string& x, std::span<const std::string> corpus);
  void make_equal(std::string& x);

  std::mt19937_64 engine_;
  std::vector<std::string> words_;
  std::vector<comparison> compared_;
  std::size_t max_bytes_;
};

} // namespace pubsub::fuzz
