// SPDX-License-Identifier: BSD-3-Clause
#include "top/top_screen.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

#include "terminal.hpp"

namespace pubsub::tool {

namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view reversed = "\x1b[7m";
constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view plain = "\x1b[0m";

constexpr std::array intervals_s{0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0};

constexpr std::size_t detail_lines = 3;
/// Below this height rows are worth more than details of one of them.
constexpr std::size_t least_lines_for_details = 14;

constexpr std::string_view hints =
    "enter links  u subscribers  esc back  s sort  / filter  p pause  ? help  q quit";

constexpr std::array<std::string_view, 21> help_lines{
    "Up Down k j, PgUp PgDn, Home End g G   choose a row",
    "enter l      links of the chosen node; of a link: those of the node behind it",
    "u            subscribers of the chosen node        tab   links or subscribers",
    "esc n        back, and to all nodes                c     clients one by one",
    "s S, 1 to 9  sort by the next column, the one before, the one with this number",
    "r            reverse the order                     /     only some names",
    "p space      pause                                 + -   interval",
    "x            forget nodes that are silent          q     quit",
    "",
    "IN OUT       messages a second read from peers and written to them",
    "B-IN BOUT    the same in bytes, those of the protocol included",
    "QUEUE FULL   messages that wait now; how full the fullest queue is, by messages",
    "TRIP         round trip of the link, as it was measured last",
    "DROP/s DROPS messages lost, a second and in all; what is chosen shows why",
    "STATE        full: a queue is at 90 % or more; dropping: messages are lost now;",
    "             silent: does not answer, and since when; lost: the peer is gone;",
    "             retiring: passes nothing on any more; tells not: may not be asked",
    "-            not known: two answers are needed for a rate",
    "",
    "Clients of a relay are no nodes: they are counted with it, and among its links.",
    "Any key goes back.",
};

std::string_view colour_of(health how) {
  switch (how) {
  case health::good:
  case health::asked:
    return "";
  case health::untold:
  case health::connecting:
  case health::retiring:
  case health::full:
    return yellow;
  case health::dropping:
  case health::lost:
  case health::silent:
    break;
  }
  return red;
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

/// The key that a letter stands for, as in vi.
std::optional<key> movement_of(char letter) {
  switch (letter) {
  case 'j':
    return key::down;
  case 'k':
    return key::up;
  case 'g':
    return key::home;
  case 'G':
    return key::end;
  default:
    return std::nullopt;
  }
}

/// The text with spaces behind it, or cut.
std::string wide(std::string_view text, std::size_t width) {
  auto result = cut_to(text, width);
  result.append(width - width_of(result), ' ');
  return result;
}

} // namespace

top_screen::top_screen(screen_options options)
    : options_(std::move(options)), sort_(options_.sort) {}

// -- keys ----------------------------------------------------------------------------------------

void top_screen::press(const key_press& pressed, network_model& model) {
  if (helps_) {
    helps_ = false;
    return;
  }
  if (typing_ == typing::filter)
    return type(pressed);
  const auto page = static_cast<std::ptrdiff_t>(std::max<std::size_t>(room_, 2) - 1);
  const auto all = static_cast<std::ptrdiff_t>(shown_.size());
  switch (pressed.what) {
  case key::up:
    return move(-1);
  case key::down:
    return move(1);
  case key::page_up:
    return move(-page);
  case key::page_down:
    return move(page);
  case key::home:
    return move(-all);
  case key::end:
    return move(all);
  case key::enter:
  case key::right:
    return enter(model);
  case key::escape:
  case key::left:
  case key::backspace:
    return go_back();
  case key::tab:
    if (place_.which != view::nodes)
      place_.which = place_.which == view::links ? view::subscribers : view::links;
    return;
  case key::character:
    if (const auto same = movement_of(pressed.letter))
      return press({*same}, model);
    return press_letter(pressed.letter, model);
  }
}

void top_screen::press_letter(char letter, network_model& model) {
  const auto node = place_.which == view::nodes ? place_.chosen : place_.node;
  switch (letter) {
  case 'l':
    return place_.which == view::subscribers ? open(view::links, node) : enter(model);
  case 'u':
    return open(view::subscribers, node);
  case 'n':
    back_.clear();
    place_ = {view::nodes, {}, node};
    return;
  case 's':
    return sort_by_next(1);
  case 'S':
    return sort_by_next(-1);
  case 'r':
    direction_ = direction_ == direction::usual ? direction::reversed : direction::usual;
    return;
  case 'c':
    clients_ = clients_ == clients_shown::folded ? clients_shown::unfolded : clients_shown::folded;
    return;
  case 'p':
  case ' ':
    paused_ = !paused_;
    return;
  case '+':
    return change_interval(1);
  case '-':
    return change_interval(-1);
  case 'x':
    return model.forget_silent();
  case '/':
    typing_ = typing::filter;
    return;
  case '?':
  case 'h':
    helps_ = true;
    return;
  case 'q':
    quits_ = true;
    return;
  default:
    if (letter >= '1' && letter <= '9')
      sort_by_place(static_cast<std::size_t>(letter - '1'));
  }
}

void top_screen::type(const key_press& pressed) {
  if (pressed.what == key::character)
    filter_ += pressed.letter;
  else if (pressed.what == key::backspace && !filter_.empty())
    filter_.pop_back();
  else if (pressed.what == key::enter)
    typing_ = typing::keys;
  else if (pressed.what == key::escape || pressed.what == key::backspace) {
    filter_.clear();
    typing_ = typing::keys;
  } else if (pressed.what == key::up || pressed.what == key::down)
    move(pressed.what == key::up ? -1 : 1);
}

void top_screen::open(view which, const std::string& node) {
  if (node.empty() || (which == place_.which && node == place_.node))
    return;
  back_.push_back(place_);
  place_ = {which, node, {}};
  filter_.clear();
}

void top_screen::go_back() {
  if (!filter_.empty()) {
    filter_.clear();
  } else if (!back_.empty()) {
    place_ = back_.back();
    back_.pop_back();
  }
}

void top_screen::enter(const network_model& model) {
  if (place_.which == view::links && place_.chosen == "clients")
    clients_ = clients_shown::unfolded;
  else if (place_.which != view::subscribers && model.knows(place_.chosen))
    open(view::links, place_.chosen);
}

void top_screen::move(std::ptrdiff_t by) {
  if (shown_.empty())
    return;
  const auto at = std::ranges::find(shown_, place_.chosen) - shown_.begin();
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  place_.chosen = shown_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, last))];
}

void top_screen::sort_by_next(std::ptrdiff_t step) {
  const auto n = static_cast<std::ptrdiff_t>(columns_.size());
  if (n == 0)
    return;
  const auto at = std::ranges::find(columns_, sort_) - columns_.begin();
  sort_by_place(static_cast<std::size_t>((at % n + step + n) % n));
}

void top_screen::sort_by_place(std::size_t number) {
  if (number < columns_.size())
    sort_ = columns_[number];
}

void top_screen::change_interval(std::ptrdiff_t step) {
  const auto longer = std::ranges::upper_bound(intervals_s, options_.interval_s);
  const auto shorter = std::ranges::lower_bound(intervals_s, options_.interval_s);
  if (step > 0 && longer != intervals_s.end())
    options_.interval_s = *longer;
  if (step < 0 && shorter != intervals_s.begin())
    options_.interval_s = *std::prev(shorter);
}

// -- drawing -------------------------------------------------------------------------------------

void top_screen::start_where_asked(const network_model& model) {
  if (started_)
    return;
  const auto node =
      options_.first_node.empty() ? std::optional{model.entry()} : model.find(options_.first_node);
  started_ = node && !node->empty();
  if (started_ && options_.first_view != view::nodes)
    open(options_.first_view, *node);
  else if (started_)
    place_.chosen = options_.first_node.empty() ? "" : *node;
}

std::vector<row> top_screen::rows_of(const network_model& model, time_point now) const {
  auto result = place_.which == view::nodes   ? model.nodes(now)
                : place_.which == view::links ? model.links(place_.node, clients_)
                                              : model.subscribers(place_.node);
  const auto wanted = lower(filter_);
  std::erase_if(
      result, [&](const row& each) { return lower(each.name).find(wanted) == std::string::npos; });
  sort_rows(result, sort_, direction_);
  return result;
}

std::vector<std::string> top_screen::draw(const network_model& model, const screen_size& size,
                                          time_point now, const std::string& time_of_day) {
  const auto [width, height] = size;
  if (width < 40 || height < 8)
    return {cut_to("too small: 80x24 is enough", width)};
  if (helps_)
    return help(width);
  start_where_asked(model);
  const auto rows = rows_of(model, now);
  columns_.clear();
  for (const auto& each : columns_for(place_.which, width))
    columns_.push_back(each.what);
  shown_.clear();
  for (const auto& each : rows)
    shown_.push_back(each.key);
  const std::size_t below = height < least_lines_for_details ? 1 : detail_lines + 2;
  room_ = height - 3 - below;
  auto at = static_cast<std::size_t>(std::ranges::find(shown_, place_.chosen) - shown_.begin());
  if (at == shown_.size() && !shown_.empty())
    place_.chosen = shown_[at = 0];
  top_ = std::min(top_, rows.size() > room_ ? rows.size() - room_ : 0);
  top_ = at < top_ ? at : at >= top_ + room_ ? at + 1 - room_ : top_;

  std::vector<std::string> result{painted(reversed, title(model, time_of_day, width)),
                                  summary(model, now, width), header(width)};
  for (std::size_t i = top_; i < std::min(rows.size(), top_ + room_); ++i)
    result.push_back(row_line(rows[i], width));
  if (rows.empty())
    result.push_back(filter_.empty() ? "  nothing here yet"
                                     : cut_to("  no name contains " + filter_, width));
  result.resize(3 + room_);
  if (below > 1)
    std::ranges::move(details(rows, detail_lines, width), std::back_inserter(result));
  result.push_back(cut_to(bottom_line(), width));
  return result;
}

std::string top_screen::title(const network_model& model, const std::string& time_of_day,
                              std::size_t width) const {
  const auto what = place_.which == view::nodes   ? std::string{"nodes"}
                    : place_.which == view::links ? "links of " + model.name_of(place_.node)
                                                  : "subscribers of " + model.name_of(place_.node);
  const auto right = fmt::format(
      " by {}{}, {} {}", name_of(sort_), direction_ == direction::reversed ? " reversed" : "",
      paused_ ? "PAUSED" : fmt::format("every {:g} s", options_.interval_s), time_of_day);
  const auto room = width - std::min(width, right.size());
  return wide(fmt::format("{} - pubsub top {}", what, options_.address), room) + right;
}

std::string top_screen::summary(const network_model& model, time_point now,
                                std::size_t width) const {
  const auto told = model.summary(now);
  return painted(told.worst == health::good ? green : colour_of(told.worst),
                 cut_to(told.text, width));
}

std::string top_screen::header(std::size_t width) const {
  std::string result;
  std::size_t used = 0;
  for (const auto& each : columns_for(place_.which, width)) {
    const auto text = header_of({&each, 1});
    if (used > 0)
      result += painted(reversed, " ");
    result += painted(each.what == sort_ ? bold : reversed, text);
    used += each.width + 1;
  }
  return result;
}

std::string top_screen::row_line(const row& of, std::size_t width) const {
  auto text = wide(line_of(of, columns_for(place_.which, width)), width);
  return painted(colour_of(of.how), of.key == place_.chosen ? painted(reversed, text) : text);
}

/// A rule that says which rows are seen, and what is to be said about the chosen one.
std::vector<std::string> top_screen::details(const std::vector<row>& rows, std::size_t lines,
                                             std::size_t width) const {
  const auto last = std::min(rows.size(), top_ + room_);
  auto rule = rows.size() <= room_
                  ? std::string{"--"}
                  : fmt::format("-- {} to {} of {} --", top_ + 1, last, rows.size());
  rule.append(width - std::min(width, rule.size()), '-');
  std::vector<std::string> result{rule};
  const auto chosen = std::ranges::find(rows, place_.chosen, &row::key);
  if (chosen != rows.end())
    for (const auto& each : chosen->details)
      result.push_back(cut_to(each, width));
  result.resize(lines + 1);
  return result;
}

std::string top_screen::bottom_line() const {
  if (typing_ == typing::filter)
    return fmt::format("only names that contain: {}_   (enter keeps it, esc drops it)", filter_);
  if (!filter_.empty())
    return fmt::format("only names that contain: {}   (esc: all)", filter_);
  return std::string{hints};
}

std::vector<std::string> top_screen::help(std::size_t width) const {
  std::vector<std::string> result{painted(reversed, wide("pubsub top: keys and columns", width)),
                                  ""};
  for (const auto each : help_lines)
    result.push_back(cut_to(each, width));
  return result;
}

/// Colours only where they are wanted: without them the rest of a style stays.
std::string top_screen::painted(std::string_view style, std::string_view text) const {
  const bool coloured = style != bold && style != reversed;
  if (style.empty() || (coloured && !options_.colours))
    return std::string{text};
  return fmt::format("{}{}{}", style, text, plain);
}

} // namespace pubsub::tool
