// SPDX-License-Identifier: BSD-3-Clause
#include "kit/picture.hpp"

#include "kit/child_process.hpp"
#include "kit/python_program.hpp"
#include "kit/report.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

exit_code draw(const std::string& json_file, const std::string& picture) {
  auto command = find_python();
  auto program = command.front();
  command.erase(command.begin());
  command.insert(command.end(), {"-m", "libpubsub.plot", json_file, picture});
  child_process child{"plot", program, command};
  auto how = child.wait(deadline_after(120));
  if (how == "exit status 0")
    return exit_code::ok;
  complain(fmt::format("{} was not drawn ({}): pip install 'libpubsub[plot]', then python -m "
                       "libpubsub.plot {} {}",
                       picture, how, json_file, picture));
  return exit_code::usage;
}

exit_code save(const std::string& file, const std::string& report) {
  auto written = write_report(file, report);
  return written ? exit_code::ok : fail(written.error());
}

} // namespace

exit_code save_and_draw(const std::string& report, const std::string& json_file,
                        const std::string& plot_file) {
  if (!json_file.empty())
    if (auto saved = save(json_file, report); saved != exit_code::ok)
      return saved;
  if (plot_file.empty())
    return exit_code::ok;
  const bool kept = !json_file.empty() && json_file != "-";
  const auto source = kept ? json_file : plot_file + ".json";
  if (!kept)
    if (auto saved = save(source, report); saved != exit_code::ok)
      return saved;
  return draw(source, plot_file);
}

} // namespace pubsub::tool::bench
