// What became of a published message.
#pragma once

#include <cstdint>

namespace pubsub {

/// What became of a published message.
enum class [[nodiscard]] publish_result : std::uint8_t{
    taken,       ///< every matching subscriber and link took it
    unwanted,    ///< no subscriber and no node has this topic in its filter
    dropped,     ///< at least one queue was full and its policy dropped a message (counted there)
    would_block, ///< a queue with policy `block` is full, and waiting was not wanted, or was in
                 ///< vain; no queue got the message
    refused,     ///< reserved or over-long topic, message too large, or endpoint closed
};

} // namespace pubsub
