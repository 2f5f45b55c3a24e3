#include "bench/numbered_stream.hpp"

namespace pubsub::tool::bench {

bool numbered_publisher::publish_next() {
  writer_.clear();
  writer_.begin_vector(2);
  writer_.write_count(stream_ | number_);
  writer_.write_encoded(contents_[next_payload_]);
  if (out_.publish_encoded(writer_.bytes()) == publish_result::refused)
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
  out_.publish_encoded(writer_.bytes());
}

void numbered_consumer::visit(const data_message& msg) {
  auto view = get_view(msg);
  auto elements = view.size();
  if (view.type() != data_type::vector || elements < 1 || elements > 2) {
    ++strange_;
    return;
  }
  auto element = view.elements().begin();
  auto number = (*element).as_count();
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
