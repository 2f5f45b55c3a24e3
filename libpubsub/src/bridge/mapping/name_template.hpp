// A name with variables: `zeek.{path}`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>

namespace pubsub::bridge {

class name_template {
public:
  /// `variables` are those that may occur. Errors: invalid_argument (another one, a brace without
  /// the other one); the context says where.
  static expected<name_template> parse(std::string_view text,
                                       std::span<const std::string_view> variables);

  bool uses(std::size_t variable) const noexcept {
    return std::ranges::any_of(pieces_, [&](const piece& x) { return x.variable == variable; });
  }
  /// `value_of(i)` is a string_view, the value of the variable `variables[i]`.
  template <class F>
  void expand(std::string& out, F value_of) const {
    for (const auto& each : pieces_) {
      out += each.text;
      if (each.variable != no_variable)
        out += value_of(each.variable);
    }
  }

private:
  static constexpr std::size_t no_variable = static_cast<std::size_t>(-1);
  struct piece {
    std::string text;
    std::size_t variable = no_variable; // behind the text
  };

  std::vector<piece> pieces_;
};

} // namespace pubsub::bridge
