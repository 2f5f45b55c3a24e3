// `pubsub zeek-proxy`: what Zeek's manager has in a thread, as a program of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "clusters.hpp"
#include "event_log.hpp"
#include "metrics_option.hpp"
#include "node_options.hpp"
#include "service_manager.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#ifdef PUBSUB_HAS_CLUSTER
#include <pubsub/cluster/zeromq_proxy.hpp>

#include "zeek/cluster_metrics.hpp"
#endif

namespace pubsub::tool {

namespace {

struct proxy_options {
  std::string listen_xsub = "127.0.0.1:5556";
  std::string listen_xpub = "127.0.0.1:5555";
  std::string curve;
  std::string clients;
  std::string new_keys;
  std::size_t queue = 1'000;
  unsigned patience_ms = 1'000;
  std::string metrics;
  log_options log;
};

#ifdef PUBSUB_HAS_CLUSTER

std::string zeromq_address(const std::string& text) {
  return text.find("://") == std::string::npos ? "tcp://" + text : text;
}

expected<cluster::zeromq_proxy_options> for_proxy(const proxy_options& from) {
  cluster::zeromq_proxy_options result;
  result.listen_xsub = zeromq_address(from.listen_xsub);
  result.listen_xpub = zeromq_address(from.listen_xpub);
  result.reader_queue_messages = from.queue;
  result.patience = std::chrono::milliseconds{from.patience_ms};
  if (!from.curve.empty()) {
    constexpr auto role = cluster::curve_role::server;
    auto keys = from.curve == "environment" ? cluster::curve_keys_from_environment(role)
                                            : cluster::read_curve_keys(from.curve, role);
    if (!keys)
      return keys.error();
    result.curve = std::move(*keys);
  }
  if (!from.clients.empty()) {
    auto keys = cluster::read_client_keys(from.clients);
    if (!keys)
      return keys.error();
    result.more_clients = std::move(*keys);
  }
  return result;
}

class running_proxy {
public:
  explicit running_proxy(const proxy_options& options) : options_(options), log_(options.log) {
    set_log_hook([this](log_level level, std::string_view text) { log_.note(level, "log", text); });
  }
  ~running_proxy() {
    metrics_.reset();
    proxy_.reset(); // it may still have something to say
    set_log_hook({});
  }

  exit_code run() {
    auto options = for_proxy(options_);
    if (!options)
      return fail(options.error());
    auto started = cluster::zeromq_proxy::start(std::move(*options));
    if (!started)
      return fail(started.error());
    proxy_.emplace(std::move(*started));
    log_.note(log_level::info, "listening",
              fmt::format("nodes publish to {} and read from {}", proxy_->xsub_address(),
                          proxy_->xpub_address()));
    metrics_options more;
    more.more_metrics = [this] { return metrics_of(proxy_->counters()); };
    if (const auto failed = start_metrics(endpoint_, options_.metrics, log_, metrics_, more);
        failed != exit_code::ok)
      return failed;
    manager_.ready();
    return watch();
  }

private:
  exit_code watch() {
    using std::chrono::seconds;
    while (wait_readable(-1, stop_, clock::now() + seconds{1}) != wake::stopped) {
      look();
      if (!proxy_->problem().empty())
        return exit_code::connect; // the log has the reason
      manager_.alive();
    }
    manager_.stopping();
    look();
    const auto all = proxy_->counters();
    log_.note(log_level::info, "closed",
              fmt::format("passed on {} messages ({} bytes) and {} subscriptions, refused {} "
                          "connections, dropped {} messages for slow readers",
                          all.messages, all.bytes, all.subscription_changes, all.refused,
                          all.dropped));
    return exit_code::ok;
  }

  void look() {
    const auto now = proxy_->counters();
    std::string text;
    const auto add = [&](std::uint64_t n, std::uint64_t before, const char* what) {
      if (n > before)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n - before, what);
    };
    add(now.dropped, before_.dropped, "messages dropped for readers that do not read");
    add(now.refused, before_.refused, "connections refused: no key, or another one");
    add(now.malformed, before_.malformed, "subscriptions that are none ignored");
    before_ = now;
    if (!text.empty())
      log_.note(log_level::warning, "dropped", text);
    log_.tick(clock::now());
  }

  const proxy_options& options_;
  event_log log_;
  stop_signal stop_;
  service_manager manager_;
  endpoint endpoint_{[] {
    endpoint_options result;
    result.name = "zeek-proxy";
    return result;
  }()}; // only for the metrics
  std::optional<cluster::zeromq_proxy> proxy_;
  std::optional<metrics_server> metrics_;
  cluster::zeromq_proxy_counters before_;
};

exit_code run_proxy(const proxy_options& options) {
  if (options.new_keys.empty())
    return running_proxy{options}.run();
  if (const auto made = cluster::make_curve_keys(options.new_keys); !made)
    return fail(made.error());
  fmt::print("{}: server_publickey, server_secretkey, client_publickey, client_secretkey\n",
             options.new_keys);
  return exit_code::ok;
}

#else

exit_code run_proxy(const proxy_options&) {
  return fail(no_clusters());
}

#endif

constexpr const char* proxy_examples =
    R"(The proxy in the middle of a Zeek cluster with the ZeroMQ backend, in place of the one that Zeek's manager
runs. What nodes publish comes in at one port, and goes out at the other to those that are subscribed; all nodes are
told of all subscriptions. Zeek's nodes need to know where it is, and that the manager is not to run its own:
    redef Cluster::Backend::ZeroMQ::run_proxy_thread = F;
A reader that has stopped holds the others up for --patience once, and loses messages from then on, until it reads
again; the log names it. While readers read, publishers are held back, and nothing is lost.

Examples:
  pubsub zeek-proxy
      for a cluster on this host
  pubsub zeek-proxy --listen-xsub '*:27761' --listen-xpub '*:27760'
      for other hosts too, at the ports of ZeekControl
  pubsub zeek-proxy --make-keys /etc/pubsub/curve
      new keys for the servers and the clients of a cluster
  pubsub zeek-proxy --listen-xsub '*:5556' --listen-xpub '*:5555' --curve /etc/pubsub/curve
      encrypted, for clients with the key of that folder; Zeek's have it in the environment
      (ZEEK_CLUSTER_BACKEND_ZEROMQ_CURVE_...), and --curve environment reads it there
  pubsub zeek-proxy --metrics 127.0.0.1:9464
      counters at http://127.0.0.1:9464/metrics, /healthz and /readyz
Ctrl-C and SIGTERM end it.)";

void add_listening(CLI::App& command, proxy_options& to) {
  command
      .add_option("--listen-xsub", to.listen_xsub,
                  "Where nodes publish: Zeek's listen_xsub_endpoint. * is every address, port 0 "
                  "picks one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  command
      .add_option("--listen-xpub", to.listen_xpub,
                  "Where nodes read what others publish: Zeek's listen_xpub_endpoint")
      ->type_name("HOST:PORT")
      ->capture_default_str();
}

void add_keys(CLI::App& command, proxy_options& to) {
  auto* const curve =
      command
          .add_option("--curve", to.curve,
                      "Encrypt with server_secretkey of this folder, and admit who has the secret "
                      "of its client_publickey; `environment`: keys in the environment")
          ->type_name("FOLDER");
  command
      .add_option("--clients", to.clients,
                  "Admit clients with these public keys, too: one a line, `# ` begins a comment")
      ->type_name("FILE")
      ->needs(curve);
  command
      .add_option("--make-keys", to.new_keys,
                  "Only make new keys in this folder, for this user's eyes; existing ones stay")
      ->type_name("FOLDER");
}

} // namespace

void add_zeek_proxy(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<proxy_options>();
  auto* const command =
      app.add_subcommand("zeek-proxy", "Run the proxy of a Zeek cluster with the ZeroMQ backend");
  add_listening(*command, *options);
  add_keys(*command, *options);
  command
      ->add_option("--queue", options->queue,
                   "Messages that wait for each reader, beyond what its connection holds")
      ->check(CLI::Range(std::size_t{2}, std::size_t{1'000'000}))
      ->capture_default_str();
  command
      ->add_option("--patience", options->patience_ms,
                   "Milliseconds for which a reader whose queue is full and that takes nothing may "
                   "hold up all others, before messages for it are dropped; the next time in a row "
                   "it is less")
      ->check(CLI::Range(0U, 60'000U))
      ->capture_default_str();
  add_metrics_option(*command, options->metrics);
  add_log_options(*command, options->log);
  command->footer(proxy_examples);
  command->callback([options, &outcome] { outcome = run_proxy(*options); });
}

} // namespace pubsub::tool
