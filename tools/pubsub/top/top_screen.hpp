// What `pubsub top` draws, and what keys do. Pure: it is given the model and the size, and returns
// lines; a terminal is needed for none of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "top/keys.hpp"
#include "top/network_model.hpp"
#include "top/raw_terminal.hpp"
#include "top/table.hpp"

namespace pubsub::tool {

struct screen_options {
  std::string address{}; ///< for the title
  double interval_s = 2;
  column sort = column::state;
  view first_view = view::nodes;
  std::string first_node{}; ///< by its name or id; empty: the one at the address
  bool colours = true;
};

class top_screen {
public:
  using time_point = network_model::time_point;

  explicit top_screen(screen_options options);

  void press(const key_press& pressed, network_model& model);
  /// All lines of the screen.
  std::vector<std::string> draw(const network_model& model, const screen_size& size, time_point now,
                                const std::string& time_of_day);

  bool quits() const noexcept { return quits_; }
  bool paused() const noexcept { return paused_; }
  double interval_s() const noexcept { return options_.interval_s; }
  /// The node whose links or subscribers are looked at; empty: none.
  const std::string& watched() const noexcept { return place_.node; }

private:
  /// What is looked at, and which of its rows is chosen.
  struct place {
    view which = view::nodes;
    std::string node;
    std::string chosen; ///< the key of a row
  };
  enum class typing : std::uint8_t { keys, filter };

  void press_letter(char letter, network_model& model);
  void type(const key_press& pressed);
  void open(view which, const std::string& node);
  void go_back();
  void enter(const network_model& model);
  void move(std::ptrdiff_t by);
  void sort_by_next(std::ptrdiff_t step);
  void sort_by_place(std::size_t number);
  void change_interval(std::ptrdiff_t step);
  void start_where_asked(const network_model& model);

  std::vector<row> rows_of(const network_model& model, time_point now) const;
  std::string title(const network_model& model, const std::string& time_of_day,
                    std::size_t width) const;
  std::string summary(const network_model& model, time_point now, std::size_t width) const;
  std::string header(std::size_t width) const;
  std::string row_line(const row& of, std::size_t width) const;
  std::vector<std::string> details(const std::vector<row>& rows, std::size_t lines,
                                   std::size_t width) const;
  std::string bottom_line() const;
  std::vector<std::string> help(std::size_t width) const;
  std::string painted(std::string_view style, std::string_view text) const;

  screen_options options_;
  place place_;
  std::vector<place> back_;
  clients_shown clients_ = clients_shown::folded;
  column sort_;
  direction direction_ = direction::usual;
  std::string filter_;
  typing typing_ = typing::keys;
  bool started_ = false; ///< `first_view` has been opened
  bool paused_ = false;
  bool helps_ = false;
  bool quits_ = false;

  // As of the last drawing.
  std::vector<std::string> shown_; ///< keys of all rows
  std::vector<column> columns_;
  std::size_t top_ = 0;  ///< the first row that is seen
  std::size_t room_ = 1; ///< rows that can be seen
};

} // namespace pubsub::tool
