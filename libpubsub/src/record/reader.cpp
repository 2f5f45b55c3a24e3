// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/record/reader.hpp>

#include <utility>

#include "record/source.hpp"

namespace pubsub::record {

class reader::core {
public:
  explicit core(std::unique_ptr<record::source> opened) : source(std::move(opened)) {}

  std::unique_ptr<record::source> source;
};

expected<reader> reader::open(std::string path, reader_options options) {
  auto opened = source::open(std::move(path), std::move(options));
  if (!opened)
    return opened.error();
  return reader{std::make_unique<core>(std::move(*opened))};
}

reader::reader(std::unique_ptr<core> state) : state_(std::move(state)) {}
reader::reader(reader&&) noexcept = default;
reader& reader::operator=(reader&&) noexcept = default;
reader::~reader() = default;

expected<std::optional<message>> reader::next() {
  message msg;
  const auto found = state_->source->next(msg);
  if (!found)
    return found.error();
  return *found ? std::optional{msg} : std::nullopt;
}

bool reader::indexed() const noexcept {
  return state_->source->index() != nullptr;
}

const std::string& reader::damage() const noexcept {
  return state_->source->damage();
}

} // namespace pubsub::record
