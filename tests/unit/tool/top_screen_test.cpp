// SPDX-License-Identifier: BSD-3-Clause
#include "top/top_screen.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "reports.hpp"
#include "terminal.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::tool;
using namespace std::chrono_literals;

namespace {

/// A network with nodes `n00`, `n01` and so on, each linked with the one before; `n00` has clients.
network_model chain(int nodes) {
  network_model model{"asker"};
  const auto id = [](int i) { return std::string(i < 10 ? "n0" : "n") + std::to_string(i); };
  for (const double up : {1.0, 2.0})
    for (int i = 0; i < nodes; ++i) {
      auto x = node(id(i), up);
      x.name = id(i);
      const auto n = static_cast<std::uint64_t>(up * (i + 1));
      if (i > 0)
        x.peers.push_back(peer(id(i - 1), {{"sent", n}}));
      else
        x.peers = {client("client-1", {}), client("client-2", {})};
      model.take_status(x, at(0s));
    }
  model.take_entry("n00");
  return model;
}

struct session {
  explicit session(int nodes, screen_options options = {}) : model(chain(nodes)), screen(options) {
    draw();
  }

  /// Without the sequences that only give style.
  std::string draw(screen_size size = {80, 24}) {
    const auto drawn = screen.draw(model, size, at(0s), "12:34:56");
    CHECK(drawn.size() <= size.lines);
    styled.clear();
    lines.clear();
    for (const auto& each : drawn) {
      styled += each + "\n";
      std::string text;
      for (std::size_t i = 0; i < each.size(); ++i)
        if (each[i] == '\x1b')
          i = each.find('m', i);
        else
          text += each[i];
      CHECK(width_of(text) <= size.columns);
      lines.push_back(text);
    }
    std::string result;
    for (const auto& each : lines)
      result += each + "\n";
    return result;
  }
  std::string type(std::string bytes) {
    for (const auto& each : take_keys(bytes, true))
      screen.press(each, model);
    return draw();
  }
  /// The line that is drawn in reverse below the title and the header.
  std::string chosen() {
    draw();
    const auto all = screen.draw(model, {80, 24}, at(0s), "");
    for (std::size_t i = 3; i < all.size(); ++i)
      if (all[i].find("\x1b[7m") != std::string::npos)
        return lines[i].substr(0, lines[i].find(' '));
    return "";
  }
  bool shows(const std::string& text) { return draw().find(text) != std::string::npos; }

  network_model model;
  top_screen screen;
  std::vector<std::string> lines;
  std::string styled;
};

constexpr const char* down = "\x1b[B";
constexpr const char* up = "\x1b[A";

} // namespace

TEST_CASE("all nodes are there, with a title, a summary and what can be done") {
  session x{3, {.address = "192.0.2.7:9999"}};
  const auto drawn = x.draw();
  for (const auto* text : {"nodes - pubsub top 192.0.2.7:9999", "12:34:56",
                           "3 nodes, 2 clients, all is well", "n00 ", "n01 ", "n02 ", "? help"})
    CHECK(drawn.find(text) != std::string::npos);
}

TEST_CASE("a row is chosen by keys, and stays chosen when the order changes") {
  session x{5};
  CHECK(x.chosen() == "n00");
  x.type(down);
  x.type("j");
  CHECK(x.chosen() == "n02");
  x.type(up);
  CHECK(x.chosen() == "n01");
  x.type("r");
  CHECK(x.chosen() == "n01");
  x.type("G");
  const auto last = x.chosen();
  x.type(down);
  CHECK(x.chosen() == last);
  x.type("g");
  x.type(up);
  CHECK(x.chosen() != last);
}

TEST_CASE("more rows than fit are scrolled, and how many there are is told") {
  session x{50};
  CHECK(x.shows("-- 1 to 16 of 50 --"));
  CHECK_FALSE(x.shows("n49"));
  x.type("G");
  CHECK(x.chosen() == "n49");
  CHECK(x.shows("-- 35 to 50 of 50 --"));
  x.type("\x1b[5~");
  CHECK(x.chosen() == "n34");
  x.type("\x1b[5~");
  CHECK(x.chosen() == "n19");
  CHECK(x.shows("-- 20 to 35 of 50 --"));
}

TEST_CASE("enter shows the links of a node, then those of the node behind one, and esc goes back") {
  session x{3};
  x.type("G\r");
  CHECK(x.shows("links of n02"));
  CHECK(x.shows("n01 "));
  x.type("\r");
  CHECK(x.shows("links of n01"));
  CHECK(x.screen.watched() == "n01");
  x.type("\x1b");
  CHECK(x.shows("links of n02"));
  x.type("\x1b");
  CHECK(x.shows("nodes - "));
  CHECK(x.chosen() == "n02");
  CHECK(x.screen.watched().empty());
}

TEST_CASE("clients are folded until c unfolds them") {
  session x{1};
  x.type("\r");
  CHECK(x.shows("2 clients"));
  x.type("c");
  CHECK_FALSE(x.shows("2 clients "));
  x.type("c");
  CHECK(x.shows("2 clients "));
  x.type("\r"); // the row of the clients
  CHECK_FALSE(x.shows("2 clients "));
}

TEST_CASE("u and tab show subscribers") {
  session x{2};
  x.type("u");
  CHECK(x.shows("subscribers of n00"));
  CHECK(x.shows("nothing here yet"));
  x.type("\t");
  CHECK(x.shows("links of n00"));
  x.type("n");
  CHECK(x.shows("nodes - "));
}

TEST_CASE("the order is changed by s, by numbers and by r") {
  session x{3};
  CHECK(x.shows("by state,"));
  x.type("s");
  CHECK(x.shows("by clients,"));
  x.type("SS");
  CHECK(x.shows("by name,"));
  x.type("r");
  CHECK(x.shows("by name reversed,"));
  CHECK(x.lines[3].starts_with("n02"));
  x.type("5");
  CHECK(x.shows("by out reversed,"));
  x.type("r");
  CHECK(x.lines[3].starts_with("n02"));
  x.type("S1S"); // before the first is the last
  CHECK(x.shows("by dropped,"));
}

TEST_CASE("a filter leaves the rows whose name contains it, in any case") {
  session x{30};
  x.type("/N2");
  CHECK(x.shows("only names that contain: N2_"));
  CHECK(x.shows("n29"));
  CHECK_FALSE(x.shows("n19"));
  x.type("9q"); // letters are no keys now
  CHECK(x.shows("no name contains N29q"));
  x.type("\x7f\r");
  CHECK(x.chosen() == "n29");
  CHECK(x.shows("only names that contain: N29   (esc"));
  x.type("\x1b");
  CHECK(x.shows("n19"));
  CHECK(x.chosen() == "n29");
}

TEST_CASE("pause, interval, help and the end") {
  session x{1, {.interval_s = 2}};
  x.type("p");
  CHECK(x.screen.paused());
  CHECK(x.shows("PAUSED"));
  x.type(" +");
  CHECK_FALSE(x.screen.paused());
  CHECK(x.screen.interval_s() == 5);
  x.type("-----------");
  CHECK(x.screen.interval_s() == 0.2);
  x.type("?");
  CHECK(x.shows("keys and columns"));
  x.type("q"); // any key goes back
  CHECK_FALSE(x.screen.quits());
  CHECK(x.shows("nodes - "));
  x.type("q");
  CHECK(x.screen.quits());
}

TEST_CASE("silent nodes come first, in red, and can be forgotten") {
  session x{3};
  x.model.take_failure("n02", error{errc::request_timeout});
  x.draw();
  CHECK(x.lines[3].starts_with("n02"));
  CHECK(x.lines[3].find("silent 0s") != std::string::npos);
  CHECK(x.styled.find("\x1b[31mn02") != std::string::npos);
  x.type("x");
  CHECK_FALSE(x.shows("n02"));
}

TEST_CASE("without colours only bold and reverse are left") {
  session x{3, {.colours = false}};
  x.model.take_failure("n02", error{errc::request_timeout});
  x.draw();
  CHECK(x.styled.find("\x1b[31m") == std::string::npos);
  CHECK(x.styled.find("\x1b[7m") != std::string::npos);
}

TEST_CASE("it starts with the view and the node it was asked for, once that is known") {
  session x{1, {.first_view = view::links, .first_node = "n01"}};
  CHECK(x.shows("nodes - "));
  x.model = chain(2);
  CHECK(x.shows("links of n01"));
}

TEST_CASE("every size is drawn, however small") {
  session x{50};
  for (const screen_size size :
       {screen_size{80, 24}, {120, 40}, {40, 8}, {79, 13}, {200, 60}, {20, 3}, {1, 1}})
    x.draw(size);
  CHECK(x.draw({120, 40}).find("UP") != std::string::npos);
}
