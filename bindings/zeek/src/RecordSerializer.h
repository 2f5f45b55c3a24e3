// Log records as values of the data model, for logs that are published record by record.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <zeek/cluster/Serializer.h>

namespace pubsub_plugin {

/// Writes batches in the form of core/record_feed.hpp. Zeek reads none of them: what is published
/// in this way is for other programs.
class RecordSerializer final : public zeek::cluster::LogSerializer {
public:
  RecordSerializer();
  static std::unique_ptr<zeek::cluster::LogSerializer> Instantiate();

  bool SerializeLogWrite(zeek::byte_buffer& buf,
                         const zeek::logging::detail::LogWriteHeader& header,
                         std::span<zeek::logging::detail::LogRecord> records) override;
  std::optional<zeek::logging::detail::LogWriteBatch>
  UnserializeLogWrite(zeek::byte_buffer_span buf) override;
};

} // namespace pubsub_plugin
