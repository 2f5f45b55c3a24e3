// SPDX-License-Identifier: BSD-3-Clause
#include "stream/numbered_stream.hpp"

namespace pubsub::tool::bench {

numbered_publisher::numbered_publisher(publisher& out, const payloads& contents,
                                       std::uint64_t stream, message_form form)
    : out_(out), contents_(contents), stream_(stream << number_bits) {
  if (form == message_form::tree)
    for (std::size_t i = 0; i < contents.size(); ++i)
      trees_.push_back(data_view::from_valid(contents[i]).to_data());
}

publish_result numbered_publisher::publish_tree() {
  vector fields;
  fields.reserve(2);
  fields.emplace_back(count{stream_ | number_});
  fields.push_back(trees_[next_payload_]);
  return out_.publish(data{std::move(fields)});
}

publish_result numbered_publisher::publish_bytes() {
  writer_.clear();
  writer_.begin_vector(2);
  writer_.write_count(stream_ | number_);
  writer_.write_encoded(contents_[next_payload_]);
  return out_.publish(writer_.bytes());
}

bool numbered_publisher::publish_next() {
  if ((trees_.empty() ? publish_bytes() : publish_tree()) == publish_result::refused)
    return false;
  ++number_;
  if (++next_payload_ == contents_.size())
    next_payload_ = 0;
  return true;
}

void numbered_publisher::finish() {
  writer_.clear();
  writer_.begin_vector(1);
  writer_.write_count(stream_ | number_);
  (void)out_.publish(writer_.bytes()); // the consumer misses the end, and says so
}

void numbered_consumer::visit(const data_message& msg) {
  if (form_ == message_form::tree) {
    const auto& fields = get<vector>(get_data(msg));
    visit(fields.size(), get<count>(fields.at(0)));
    return;
  }
  auto view = get_view(msg);
  auto elements = view.size();
  if (view.type() != data_type::vector || elements < 1 || elements > 2)
    ++strange_;
  else
    visit(elements, (*view.elements().begin()).as_count());
}

void numbered_consumer::visit(std::size_t elements, std::uint64_t number) {
  auto stream = number >> number_bits;
  number &= number_mask;
  if (stream >= checkers_.size()) {
    ++strange_;
  } else if (elements == 1) {
    if (!totals_[stream])
      ++ends_;
    totals_[stream] = number;
  } else {
    ++visited_;
    checkers_[stream].visit(number);
  }
}

sequence_result numbered_consumer::result() const {
  sequence_result sum;
  for (std::size_t i = 0; i < checkers_.size(); ++i)
    sum += checkers_[i].result(totals_[i].value_or(checkers_[i].next()));
  return sum;
}

bool numbered_consumer::complete() const {
  return ended() && result().missing == 0;
}

} // namespace pubsub::tool::bench
