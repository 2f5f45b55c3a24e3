#include "bench/report.hpp"

#include "bench/machine.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace pubsub::tool::bench {

namespace {

json_object result_object(const measurement& x) {
  json_object rate;
  rate.add("median", x.rate.median)
      .add("min", x.rate.min)
      .add("max", x.rate.max)
      .add("samples", x.rate.samples);
  auto result = x.labels;
  result.add("payload_bytes", x.payload_bytes)
      .add("msgs_per_s", rate)
      .add("published", x.sequence.published)
      .add("delivered", x.sequence.delivered)
      .add("dropped", x.sequence.missing)
      .add("duplicated", x.sequence.duplicated)
      .add("reordered", x.sequence.reordered);
  return result;
}

} // namespace

std::string report_text(std::string_view benchmark, const json_object& params,
                        const std::vector<measurement>& results) {
  std::vector<json_object> list;
  list.reserve(results.size());
  for (const auto& x : results)
    list.push_back(result_object(x));
  json_object report;
  report.add("schema", 1U)
      .add("benchmark", benchmark)
      .add("machine", describe_machine())
      .add("params", params)
      .add("results", list);
  return report.text() + "\n";
}

expected<void> write_report(const std::string& file, const std::string& text) {
  std::ofstream out{file, std::ios::binary | std::ios::trunc};
  out << text;
  out.close();
  if (!out)
    return error{errc::cannot_write_file, file + ": " + std::strerror(errno)};
  return {};
}

} // namespace pubsub::tool::bench
