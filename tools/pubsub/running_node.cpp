// SPDX-License-Identifier: BSD-3-Clause
#include "running_node.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr std::chrono::seconds time_between_looks{1};
constexpr std::chrono::hours time_between_warnings{12};
constexpr std::chrono::hours warned_before_expiry{24 * 21};

bool reads_files(const node_options& x) {
  return !x.config.empty() || !x.access.empty() || x.connection.tls.authenticated();
}

/// Of the options whose texts have changed, those that can change while a node runs.
bool takes_effect_at_once(const std::string& option) {
  static const std::vector<std::string> all{
      "--access",          "--ca-file",    "--ca-path",   "--certificate",
      "--config",          "--json",       "--key",       "--log-format",
      "--log-level",       "--passphrase", "--peer",      "--passphrase-file",
      "--connect-timeout", "--retry",      "--max-retry", "--retire-timeout",
      "--mask-key-file"};
  return std::ranges::count(all, option) > 0;
}

std::string listed(const std::vector<std::string>& all) {
  return fmt::format("{}", fmt::join(all, ", "));
}

std::vector<std::string> without(const std::vector<std::string>& all,
                                 const std::vector<std::string>& those) {
  std::vector<std::string> result;
  std::ranges::copy_if(all, std::back_inserter(result),
                       [&](const auto& each) { return std::ranges::count(those, each) == 0; });
  return result;
}

} // namespace

running_node::running_node(std::vector<std::string> arguments, node_settings settings)
    : arguments_(std::move(arguments)), settings_(std::move(settings)), log_(settings_.options.log),
      // Without a file, a terminal that hangs up ends the node.
      commands_(reads_files(settings_.options) ? command_signal{SIGUSR2, SIGHUP}
                                               : command_signal{SIGUSR2}),
      endpoint_(settings_.options.for_endpoint()), events_(endpoint_.make_status_subscriber()) {
  set_log_hook([this](log_level level, std::string_view text) { log_.note(level, "log", text); });
}

running_node::~running_node() {
  endpoint_.close();
  set_log_hook({});
}

exit_code running_node::run() {
  if (auto failed = start(); failed != exit_code::ok)
    return failed;
  manager_.ready();
  watch();
  end();
  return exit_code::ok;
}

exit_code running_node::start() {
  const auto& options = settings_.options;
  std::optional<access_rules> rules;
  if (!options.access.empty()) {
    auto read = read_access_rules(options.access);
    if (!read)
      return fail(read.error());
    rules = std::move(*read);
    if (const auto set = endpoint_.set_access(rules); !set)
      return fail(set.error());
    log_.access_rules(options.access, rules->size());
  }
  auto messages = read_rules(options);
  if (!messages)
    return fail(messages.error());
  rules_.change(std::move(messages->rules), messages->key);
  const auto bridges = read_bridges(options);
  if (!bridges)
    return fail(bridges.error());
  if (const auto failure = bridges_.change(*bridges))
    return fail(failure);
  if (const auto failure = listen_at_more(options.connection.listen))
    return fail(failure);
  const auto serving = websockets_.start(endpoint_, options.connection.websockets,
                                         options.for_websockets(std::move(rules)));
  if (!serving)
    return fail(serving.error());
  for (const auto& each : *serving)
    log_.listening(each);
  auto peers_only = options.connection;
  peers_only.listen.clear();
  if (auto failed = connect(endpoint_, peers_only, peering::in_background); failed != exit_code::ok)
    return failed;
  return start_metrics(endpoint_, options.metrics, log_, metrics_,
                       {.more_metrics = [this] { return rules_.metrics() + bridges_.metrics(); }});
}

void running_node::watch() {
  look(clock::now());
  while (!retired_) {
    const auto why =
        wait_for_one_of({events_.fd(), commands_.fd()}, stop_, std::min(look_again_, alive_again_));
    if (why == wake::stopped)
      return;
    if (const int signal = commands_.take(); signal != 0)
      obey(signal);
    show_events();
    look(clock::now());
  }
}

void running_node::obey(int signal) {
  if (signal == SIGHUP)
    reload();
  else
    retire();
}

void running_node::show_events() {
  while (const auto event = events_.try_get())
    log_.status(*event);
}

/// What is to be done now and then.
void running_node::look(clock::time_point now) {
  if (now >= look_again_) {
    look_again_ = now + time_between_looks;
    log_.drops(endpoint_.counters());
    show_losses();
    log_.tick(now);
  }
  if (now >= warn_again_) {
    warn_again_ = now + time_between_warnings;
    warn_of_expiry();
  }
  if (now >= alive_again_) {
    const auto interval = manager_.watchdog_interval();
    alive_again_ = interval ? now + *interval : clock::time_point::max();
    manager_.alive();
  }
}

/// What they have counted so far: those that change begin anew.
void running_node::show_rules() {
  for (const auto& each : rules_.totals())
    log_.note(log_level::info, "rule", each);
}

/// The same of bridges.
void running_node::show_bridges() {
  for (const auto& each : bridges_.totals())
    log_.note(log_level::info, "bridge", each);
}

void running_node::show_losses() {
  for (const auto& each : bridges_.problems())
    log_.note(log_level::warning, "bridge", each);
  for (const auto& each : gateway_log_.losses(endpoint_.gateways()))
    log_.note(log_level::warning, "gateway_dropped", each);
  for (const auto& each : websockets_.losses())
    log_.note(log_level::warning, "websocket_dropped", each);
}

void running_node::warn_of_expiry() {
  const auto at = endpoint_.certificate_expiry();
  if (!at)
    return;
  const auto left = *at - std::chrono::system_clock::now();
  if (left <= std::chrono::seconds{0})
    log_.note(log_level::error, "certificate", "the certificate has expired: no peer accepts it");
  else if (left < warned_before_expiry)
    log_.note(log_level::warning, "certificate",
              fmt::format("the certificate expires in {} hours: put a new one in its place, then "
                          "SIGHUP",
                          std::chrono::duration_cast<std::chrono::hours>(left).count()));
}

// -- reading the files again ---------------------------------------------------------------------

void running_node::reload() {
  manager_.reloading();
  auto outcome = exit_code::ok;
  auto fresh = parse_node(arguments_, outcome);
  auto failure = fresh ? apply(*fresh) : error{errc::invalid_argument, "see the line before"};
  if (failure) {
    log_.note(log_level::error, "not_reloaded",
              "nothing has changed, since there is a mistake: " + failure.context());
  } else {
    say_what_needs_a_restart(*fresh);
    settings_ = std::move(*fresh);
    log_.note(log_level::info, "reloaded", "the files were read again");
    warn_of_expiry();
  }
  manager_.ready();
}

error running_node::apply(const node_settings& fresh) {
  const auto& options = fresh.options;
  if (auto ok = check(options); !ok)
    return ok.error();
  std::optional<access_rules> rules;
  if (!options.access.empty()) {
    auto read = read_access_rules(options.access);
    if (!read)
      return read.error();
    rules = std::move(*read);
  }
  auto messages = read_rules(options);
  if (!messages)
    return messages.error();
  const auto bridges = read_bridges(options);
  if (!bridges)
    return bridges.error();
  // First what can fail for a reason that no check sees: an address that is in use.
  if (auto failure =
          listen_at_more(without(options.connection.listen, settings_.options.connection.listen)))
    return failure;
  const auto tls = options.for_endpoint().tls;
  if (tls.authenticated() || settings_.options.for_endpoint().tls.authenticated())
    if (auto set = endpoint_.set_tls(tls); !set)
      return set.error();
  const auto n = rules ? rules->size() : 0;
  if (auto set = endpoint_.set_access(rules); !set)
    return set.error();
  if (auto set = websockets_.change(options.for_websockets(std::move(rules))); !set)
    return set.error();
  if (auto failure = bridges_.change(*bridges))
    return failure;
  show_rules();
  rules_.change(std::move(messages->rules), messages->key);
  if (!options.access.empty())
    log_.access_rules(options.access, n);
  log_.change(options.log);
  change_peers(options.connection.peers);
  return {};
}

/// Parts from those that are not in the file any more, in good order.
void running_node::change_peers(const std::vector<std::string>& wanted) {
  const auto& before = settings_.options.connection.peers;
  for (const auto& each : without(before, wanted))
    if (const auto left = endpoint_.unpeer(each); !left)
      log_.note(log_level::warning, "unpeer", left.error().message());
  auto more = settings_.options.connection;
  more.listen.clear();
  more.peers = without(wanted, before);
  connect(endpoint_, more, peering::in_background);
}

error running_node::listen_at_more(const std::vector<std::string>& wanted) {
  for (const auto& address : wanted) {
    const auto port = endpoint_.listen(address);
    if (!port)
      return port.error();
    log_.listening(listen_address(address, *port));
  }
  return {};
}

void running_node::say_what_needs_a_restart(const node_settings& fresh) {
  auto names = settings_.differences(fresh);
  const auto closed = without(settings_.options.connection.listen, fresh.options.connection.listen);
  std::erase_if(names, [&](const auto& each) {
    return takes_effect_at_once(each) || (each == "--listen" && closed.empty());
  });
  if (!names.empty())
    log_.note(log_level::warning, "needs_restart",
              "changes of these take effect when the node is started again: " + listed(names));
}

// -- the end -------------------------------------------------------------------------------------

void running_node::retire() {
  log_.note(log_level::info, "retiring", "other nodes are to choose routes around this one");
  const auto patience = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>{settings_.options.retire_timeout_s});
  retired_ = true;
  const bool all = endpoint_.retire(patience);
  show_events();
  log_.note(all ? log_level::info : log_level::warning, "retired",
            all ? "nothing comes any more that is for others"
                : "not all nodes have chosen other routes in time");
}

void running_node::end() {
  manager_.stopping();
  show_losses();
  rules_.stop();
  show_rules();
  bridges_.stop();
  show_bridges();
  for (const auto& each : websockets_.totals())
    log_.note(log_level::info, "websocket", each);
  websockets_.stop();
  endpoint_.close();
  const auto gateways = endpoint_.gateways(); // which may have sent, or lost, something at the end
  for (const auto& each : gateway_log_.losses(gateways))
    log_.note(log_level::warning, "gateway_dropped", each);
  for (const auto& each : gateway_log::totals(gateways))
    log_.note(log_level::info, "gateway", each);
  show_events();
  const auto totals = endpoint_.counters();
  log_.drops(totals);
  log_.totals(totals);
}

} // namespace pubsub::tool
