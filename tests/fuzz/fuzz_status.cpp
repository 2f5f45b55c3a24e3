// Any bytes as a question how a node is, or the answer: written as it was read.
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "format/utf8.hpp"
#include "wire/native/network.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

void try_input(std::span<const std::byte> bytes) {
  std::optional<wire::status_frame> x;
  {
    const memory_bound none{0};
    x = wire::parse_status_frame(bytes);
  }
  if (!x)
    return;
  check(x->text.size() <= wire::max_status_text_bytes && is_utf8(x->text),
        "its text is short and in UTF-8");
  const auto again = x->kind == wire::frame_kind::status_request
                         ? wire::make_status_request(x->number)
                         : wire::make_status_reply(x->number, x->text);
  check(std::ranges::equal(std::span{again}.subspan(4), bytes),
        "a status frame is written as it was read");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
