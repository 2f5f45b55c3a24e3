// SPDX-License-Identifier: BSD-3-Clause
#include "record/mcap.hpp"

namespace pubsub::record::mcap {

namespace {

// A map and an array have their length in bytes in front.
template <class AddMembers>
void add_sized(byte_buffer& out, AddMembers add_members) {
  const auto at = out.size();
  out.add(std::uint32_t{0});
  add_members();
  out.patch(at, static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t)));
}

void add_map(byte_buffer& out, const text_map& entries) {
  add_sized(out, [&] {
    for (const auto& [key, value] : entries) {
      out.add_text(key);
      out.add_text(value);
    }
  });
}

} // namespace

std::size_t begin_record(byte_buffer& out, opcode code) {
  out.add(static_cast<std::uint8_t>(code));
  const auto at = out.size();
  out.add(std::uint64_t{0});
  return at;
}

void end_record(byte_buffer& out, std::size_t begun) noexcept {
  out.patch(begun, static_cast<std::uint64_t>(out.size() - begun - sizeof(std::uint64_t)));
}

void append_header(byte_buffer& out, std::string_view library) {
  const auto begun = begin_record(out, opcode::header);
  out.add_text(""); // no profile
  out.add_text(library);
  end_record(out, begun);
}

void append(byte_buffer& out, const schema& x) {
  const auto begun = begin_record(out, opcode::schema);
  out.add(x.id);
  out.add_text(x.name);
  out.add_text(x.encoding);
  out.add(static_cast<std::uint32_t>(x.content.size()));
  out.add_bytes(x.content);
  end_record(out, begun);
}

void append(byte_buffer& out, const channel& x) {
  const auto begun = begin_record(out, opcode::channel);
  out.add(x.id);
  out.add(x.schema_id);
  out.add_text(x.topic);
  out.add_text(x.encoding);
  add_map(out, x.metadata);
  end_record(out, begun);
}

void append(byte_buffer& out, const chunk_index& x) {
  const auto begun = begin_record(out, opcode::chunk_index);
  out.add(x.first_time);
  out.add(x.last_time);
  out.add(x.offset);
  out.add(x.length);
  add_sized(out, [&] {
    for (const auto& [channel, offset] : x.message_indexes) {
      out.add(channel);
      out.add(offset);
    }
  });
  out.add(x.message_index_bytes);
  out.add_text(x.compression);
  out.add(x.compressed_bytes);
  out.add(x.uncompressed_bytes);
  end_record(out, begun);
}

void append(byte_buffer& out, const statistics& x) {
  const auto begun = begin_record(out, opcode::statistics);
  out.add(x.messages);
  out.add(x.schemas);
  out.add(x.channels);
  out.add(x.attachments);
  out.add(x.metadata);
  out.add(x.chunks);
  out.add(x.first_time);
  out.add(x.last_time);
  add_sized(out, [&] {
    for (const auto& [channel, messages] : x.messages_of) {
      out.add(channel);
      out.add(messages);
    }
  });
  end_record(out, begun);
}

void append(byte_buffer& out, const metadata& x) {
  const auto begun = begin_record(out, opcode::metadata);
  out.add_text(x.name);
  add_map(out, x.entries);
  end_record(out, begun);
}

void append(byte_buffer& out, const metadata_index& x) {
  const auto begun = begin_record(out, opcode::metadata_index);
  out.add(x.offset);
  out.add(x.length);
  out.add_text(x.name);
  end_record(out, begun);
}

void append_data_end(byte_buffer& out, std::uint32_t crc) {
  const auto begun = begin_record(out, opcode::data_end);
  out.add(crc);
  end_record(out, begun);
}

void append_summary_offset(byte_buffer& out, opcode group, std::uint64_t start,
                           std::uint64_t length) {
  const auto begun = begin_record(out, opcode::summary_offset);
  out.add(static_cast<std::uint8_t>(group));
  out.add(start);
  out.add(length);
  end_record(out, begun);
}

void append_footer_head(byte_buffer& out, std::uint64_t summary_start,
                        std::uint64_t summary_offset_start) {
  out.add(static_cast<std::uint8_t>(opcode::footer));
  out.add(static_cast<std::uint64_t>(footer_bytes));
  out.add(summary_start);
  out.add(summary_offset_start);
}

} // namespace pubsub::record::mcap
