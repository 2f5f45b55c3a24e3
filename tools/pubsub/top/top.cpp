// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "tls_arguments.hpp"
#include "top/network_watch.hpp"
#include "top/raw_terminal.hpp"
#include "top/table.hpp"
#include "top/top_screen.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <memory>

#include <fmt/ranges.h>
#include <unistd.h>

namespace pubsub::tool {

namespace {

const std::map<std::string, view> view_names{
    {"nodes", view::nodes}, {"links", view::links}, {"subscribers", view::subscribers}};

struct top_options {
  std::string address;
  double interval_s = 2;
  double timeout_s = 2;
  double connect_timeout_s = 10;
  std::string sort = "state";
  view which = view::nodes;
  std::string node;
  std::optional<std::uint64_t> tables; ///< nothing: without end
  bool once = false;
  bool batch = false;
  bool json = false;
  tls_options tls;
};

using seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

std::chrono::nanoseconds nanoseconds_of(double x) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds{x});
}

/// Everything that is known, as one object.
json_object json_of(const network_model& model, clock::time_point now) {
  std::vector<json_object> nodes;
  for (const auto& each : model.nodes(now)) {
    std::vector<json_object> links;
    for (const auto& link : model.links(each.key, clients_shown::unfolded))
      links.push_back(json_of(view::links, link).add("id", link.key));
    std::vector<json_object> subscribers;
    for (const auto& sub : model.subscribers(each.key))
      subscribers.push_back(json_of(view::subscribers, sub));
    nodes.push_back(json_of(view::nodes, each)
                        .add("id", each.key)
                        .add("links", links)
                        .add("subscribers", subscribers));
  }
  return json_object{}
      .add("schema", 1U)
      .add("time", time_of_day())
      .add("summary", model.summary(now).text)
      .add("nodes", nodes);
}

/// Tables one below the other, or objects, one a line.
class top_lines {
public:
  top_lines(const top_options& options, const network_model& model, network_watch& watch,
            const stop_signal& stop)
      : options_(options), model_(model), watch_(watch), stop_(stop) {}

  exit_code run() {
    auto next = clock::now();
    // The first look is not shown, since it has no rates.
    for (std::uint64_t looks = 0;; ++looks) {
      if (!look() || (looks > 0 && !show()))
        return outcome_;
      if (options_.tables && looks >= *options_.tables)
        return exit_code::ok;
      next += std::chrono::duration_cast<clock::duration>(seconds{options_.interval_s});
      if (wait_readable(-1, stop_, next) == wake::stopped)
        return exit_code::ok;
    }
  }

private:
  /// Asks, and waits until all have answered or have had their time; those that are silent are not
  /// waited for. False once a stop is asked for.
  bool look() {
    const auto end = deadline_after(options_.timeout_s + 0.5);
    watch_.ask();
    while (!watch_.settled()) {
      if (const auto why = wait_readable(watch_.fd(), stop_, end); why != wake::ready)
        return why == wake::timeout;
      watch_.take();
    }
    return true;
  }

  /// False if that is not possible any more.
  bool show() {
    const auto now = clock::now();
    const auto text =
        options_.json ? expected<std::string>{json_of(model_, now).text()} : table(now);
    if (!text) {
      outcome_ = fail(text.error());
      return false;
    }
    line_output out;
    out.add(*text);
    return out.flush();
  }

  /// Nothing while there is none of this name.
  std::optional<std::string> node_of_interest() const {
    return options_.node.empty() ? std::optional{model_.entry()} : model_.find(options_.node);
  }

  expected<std::string> table(clock::time_point now) const {
    const auto node = node_of_interest();
    if (!node)
      return error{errc::invalid_argument,
                   fmt::format("no node is called '{}'", printable(options_.node))};
    auto rows = options_.which == view::nodes   ? model_.nodes(now)
                : options_.which == view::links ? model_.links(*node, clients_shown::unfolded)
                                                : model_.subscribers(*node);
    sort_rows(rows, column_named(options_.sort), direction::usual);
    const auto of = options_.which == view::nodes ? "" : fmt::format(" {}:", model_.name_of(*node));
    return fmt::format("{}{} {}\n{}", time_of_day(), of, model_.summary(now).text,
                       plain_table(options_.which, rows));
  }

  const top_options& options_;
  const network_model& model_;
  network_watch& watch_;
  const stop_signal& stop_;
  exit_code outcome_ = exit_code::ok;
};

/// The terminal, the keys and the clock together.
class top_session {
public:
  /// `signals`: SIGWINCH and SIGTSTP.
  top_session(const top_options& options, network_model& model, network_watch& watch,
              const stop_signal& stop, command_signal& signals)
      : model_(model), watch_(watch), stop_(stop), signals_(signals), screen_(screen_of(options)) {}

  exit_code run() {
    while (!screen_.quits()) {
      ask_if_due();
      if (!draw_if_due())
        break;
      const auto due = std::min(ask_at_, draw_at_);
      const std::initializer_list<int> fds{STDIN_FILENO, signals_.fd(), watch_.fd()};
      if (wait_for_one_of(fds, stop_, due) == wake::stopped || !take_keys_in())
        break;
      take_signals();
      if (watch_.take() && !screen_.paused())
        // All answers of a round in one drawing; those that are late when they come.
        draw_at_ = std::min(draw_at_, clock::now() + (watch_.settled() ? 0ms : 200ms));
    }
    return exit_code::ok;
  }

private:
  static screen_options screen_of(const top_options& options) {
    return {.address = options.address,
            .interval_s = options.interval_s,
            .sort = column_named(options.sort),
            .first_view = options.which,
            .first_node = options.node,
            .colours = wants_colours()};
  }

  void ask_if_due() {
    const auto now = clock::now();
    if (now < ask_at_)
      return;
    asked_at_ = now;
    watch_.look_closely_at(screen_.watched());
    if (!screen_.paused())
      watch_.ask();
    set_next_ask();
    draw_at_ = std::min(draw_at_, now + 1s); // ages grow, whether anything is answered or not
  }

  void set_next_ask() {
    ask_at_ =
        asked_at_ + std::chrono::duration_cast<clock::duration>(seconds{screen_.interval_s()});
  }

  bool draw_if_due() {
    const auto now = clock::now();
    if (now < draw_at_)
      return true;
    if (!screen_.paused())
      shown_at_ = now;
    draw_at_ = now + 1s;
    return terminal_.draw(
        screen_.draw(model_, raw_terminal::size(), shown_at_, time_of_day().substr(11, 8)));
  }

  /// False once the terminal is gone.
  bool take_keys_in() {
    if (!terminal_.read(typed_))
      return false;
    auto pressed = take_keys(typed_, false);
    if (!typed_.empty()) { // the rest of a sequence follows at once, or it was the key escape
      const bool more = wait_readable(STDIN_FILENO, clock::now() + 50ms) == wake::ready;
      if (more && !terminal_.read(typed_))
        return false;
      std::ranges::move(take_keys(typed_, true), std::back_inserter(pressed));
    }
    for (const auto& each : pressed)
      screen_.press(each, model_);
    if (!pressed.empty()) {
      set_next_ask();
      draw_at_ = clock::now();
    }
    return true;
  }

  void take_signals() {
    while (const int signal = signals_.take()) {
      if (signal == SIGTSTP)
        terminal_.suspend();
      terminal_.forget_drawn();
      draw_at_ = clock::now();
    }
  }

  network_model& model_;
  network_watch& watch_;
  const stop_signal& stop_;
  command_signal& signals_;
  top_screen screen_;
  std::string typed_;
  clock::time_point asked_at_ = clock::now();
  clock::time_point ask_at_ = asked_at_;
  clock::time_point draw_at_ = asked_at_;
  clock::time_point shown_at_ = asked_at_;
  raw_terminal terminal_;
};

exit_code run_top(const top_options& options) {
  if (auto readable = read_network(R"({"nodes":[]})"); !readable)
    return fail(readable.error());
  const bool draws = !options.batch && !options.json && can_draw();
  stop_signal stop;
  std::optional<command_signal> signals; // before there are other threads, which must not get them
  if (draws)
    signals.emplace(std::initializer_list<int>{SIGWINCH, SIGTSTP});
  endpoint ep{only_asking("pubsub-top", options.tls)};
  peer_options patience{.timeout = nanoseconds_of(options.connect_timeout_s)};
  patience.max_retry = 2s; // a node that is started again is soon looked at again
  if (auto peered = ep.peer(options.address, patience); !peered)
    return fail(peered.error());
  network_model model{to_string(ep.id())};
  network_watch watch{ep, model, nanoseconds_of(options.timeout_s)};
  if (draws)
    return top_session{options, model, watch, stop, *signals}.run();
  if (options.json || options.which != view::nodes)
    watch.look_closely_at_all();
  return top_lines{options, model, watch, stop}.run();
}

constexpr const char* top_examples = R"(Examples:
  pubsub top 127.0.0.1:9999                               the whole network that this node belongs to; ? shows the keys
  pubsub top 127.0.0.1:9999 --sort drops --interval 1     who loses messages, every second
  pubsub top 127.0.0.1:9999 --once                        one table, without a terminal
  pubsub top 127.0.0.1:9999 --batch 3 --view links --node relay-1
                                                          the links of one node, three times
  pubsub top 127.0.0.1:9999 --json --once                 all that is known, as one JSON object
A node that does not answer stays, and since when it is silent.)";

void add_output_options(CLI::App& command, top_options& options) {
  const auto once = command.add_flag("--once", options.once,
                                     "Print one plain table, after one interval, and end");
  command
      .add_option("--batch", options.tables,
                  "Print so many plain tables, one each interval, and end; without a terminal "
                  "that is how it prints, without end")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->excludes(once);
  command.add_flag("--json", options.json,
                   "Print JSON objects, one a line, with all nodes, links and subscribers");
}

} // namespace

void add_top(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<top_options>();
  auto command = app.add_subcommand(
      "top", "Watch a running network: rates, queues and losses of all its nodes");
  command
      ->add_option(
          "node_address", options->address,
          "Where a node of the network listens: HOST:PORT, tls://HOST:PORT or unix:///PATH")
      ->required()
      ->type_name("ADDRESS");
  command->add_option("--interval", options->interval_s, "Seconds between questions")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command
      ->add_option("--sort", options->sort,
                   "Sort by this column, the worst or the most first: " +
                       fmt::format("{}", fmt::join(column_names(), ", ")))
      ->check(CLI::IsMember(column_names()).description(""))
      ->type_name("COLUMN")
      ->capture_default_str();
  command
      ->add_option("--view", options->which,
                   "What to show at first: nodes, or links or subscribers of one node")
      ->transform(CLI::CheckedTransformer(view_names).description(""))
      ->type_name("VIEW")
      ->default_str("nodes");
  command
      ->add_option("--node", options->node,
                   "Whose links or subscribers: a name, or the beginning of an id; the node at the "
                   "address if not given")
      ->type_name("NAME");
  add_output_options(*command, *options);
  command
      ->add_option("--timeout", options->timeout_s,
                   "Seconds that a node has to answer before it is shown as silent")
      ->check(CLI::Range(0.1, 60.0))
      ->capture_default_str();
  command
      ->add_option("--connect-timeout", options->connect_timeout_s,
                   "Seconds to wait for the first node at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_tls_options(*command, options->tls, [options] { return is_encrypted(options->address); });
  command->footer(top_examples);
  command->callback([options, &outcome] {
    if (options->once)
      options->tables = 1;
    options->batch = options->tables.has_value();
    outcome = run_top(*options);
  });
}

} // namespace pubsub::tool
