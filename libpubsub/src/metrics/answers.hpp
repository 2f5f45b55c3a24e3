// The answers of the server, made once for all connections that ask within a moment.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/metrics/metrics_server.hpp>

namespace pubsub {

using shared_text = std::shared_ptr<const std::string>;

inline constexpr std::string_view plain_text = "text/plain; charset=utf-8";

struct answer {
  unsigned status = 200;
  std::string_view content_type;
  shared_text body;
};

/// An answer is kept for a moment, so that many questions cost no more than a few. Thread-safety:
/// one thread.
class answers {
public:
  using clock = std::chrono::steady_clock;

  answers(std::shared_ptr<const endpoint> ep, readiness_check readiness,
          metrics_source more_metrics)
      : endpoint_(std::move(ep)), readiness_(std::move(readiness)),
        more_metrics_(std::move(more_metrics)) {}

  /// What to say to a GET of this path; nothing: there is no such page.
  std::optional<answer> find(std::string_view path);

  shared_text status();
  shared_text network();
  /// `{"ready":true,"reason":null}`, or false with a reason.
  shared_text readiness();

private:
  struct kept {
    clock::time_point since;
    shared_text text;
  };

  template <class Make>
  const shared_text& recent(kept& x, Make&& make);
  std::optional<std::string> why_not();
  std::string metrics();

  const std::shared_ptr<const endpoint> endpoint_;
  const readiness_check readiness_;
  const metrics_source more_metrics_;
  kept metrics_, health_, status_, network_, readiness_text_;
  std::optional<std::string> reason_; // as readiness_text_ has it
};

/// The page at `/`, made of the files in page/.
extern const std::string_view status_page;

} // namespace pubsub
