// SPDX-License-Identifier: BSD-3-Clause
#include "kit/report.hpp"

#include "kit/machine.hpp"
#include "terminal.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace pubsub::tool::bench {

json_object describe(const rate_statistics& x) {
  json_object result;
  result.add("median", x.median).add("min", x.min).add("max", x.max).add("samples", x.samples);
  return result;
}

void add_sequence(json_object& to, const sequence_result& x) {
  to.add("published", x.published)
      .add("delivered", x.delivered)
      .add("dropped", x.missing)
      .add("duplicated", x.duplicated)
      .add("reordered", x.reordered);
}

json_object describe(const measurement& x) {
  auto result = x.labels;
  result.add("payload_bytes", x.payload_bytes).add("msgs_per_s", describe(x.rate));
  add_sequence(result, x.sequence);
  return result;
}

std::string report_text(std::string_view benchmark, const json_object& params,
                        const std::vector<measurement>& results) {
  std::vector<json_object> list;
  list.reserve(results.size());
  for (const auto& x : results)
    list.push_back(describe(x));
  return report_text(benchmark, params, list);
}

std::string report_text(std::string_view benchmark, const json_object& params,
                        const std::vector<json_object>& results) {
  json_object report;
  report.add("schema", 1U)
      .add("benchmark", benchmark)
      .add("machine", describe_machine())
      .add("params", params)
      .add("results", results);
  return report.text() + "\n";
}

expected<void> write_report(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0)
      return error{errc::cannot_write_file, std::string{"stdout: "} + std::strerror(errno)};
    return {};
  }
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << text;
  out.close();
  if (!out)
    return error{errc::cannot_write_file, file + ": " + std::strerror(errno)};
  return {};
}

exit_code save_report(const std::string& file, std::string_view benchmark,
                      const json_object& params, const std::vector<json_object>& results) {
  if (file.empty())
    return exit_code::ok;
  auto written = write_report(file, report_text(benchmark, params, results));
  return written ? exit_code::ok : fail(written.error());
}

} // namespace pubsub::tool::bench
