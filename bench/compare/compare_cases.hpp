// What a comparison measures: cases, and who takes part in each.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pubsub::tool::bench {

struct compare_settings {
  std::string only; ///< `local`, `host`, `chain`, `values` or `actors`; empty for all
  std::vector<unsigned> relays{0, 1, 2, 4};
  std::size_t payload_bytes = 100;
  double duration_s = 3;
  std::string input;     ///< log whose records go through the chains, too; empty for none
  std::string peers_dir; ///< where the programs of bench/ are; empty to look beside this program
};

/// `variant`: ourselves in another usage than the one that is compared.
enum class part : unsigned char { limit, ours, variant, peer };

struct contestant {
  std::string name;  ///< e.g. `libzmq`
  std::string usage; ///< what of it is used, e.g. `PUB/SUB`
  part role = part::peer;
  std::string program; ///< empty for this program itself
  std::vector<std::string> arguments;

  std::string title() const { return usage.empty() ? name : name + " " + usage; }
};

/// Contestants that carry the same messages the same way. The limit comes first, then ourselves.
struct compare_case {
  std::string setup;    ///< `local`, `host`, `chain` or `actors`
  std::string messages; ///< `fresh`, `repeated` or `tree`
  unsigned relays = 0;
  std::vector<contestant> contestants;

  std::string title() const;
};

std::vector<compare_case> make_cases(const compare_settings& settings);

} // namespace pubsub::tool::bench
