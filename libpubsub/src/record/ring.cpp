// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/record/ring.hpp>

#include <deque>
#include <optional>
#include <utility>

#include "record/mcap.hpp"
#include "record/numbered_files.hpp"
#include "record/output_file.hpp"
#include "record/packer.hpp"

namespace pubsub::record {

class ring::core {
public:
  explicit core(ring_options options) : options_(std::move(options)), packer_(options_.chunks) {}

  expected<void> write(const data_message& msg, timestamp log_time) {
    for (;;) {
      auto added = packer_.add(msg, log_time);
      if (!added)
        return added.error();
      if (*added == packer::outcome::added)
        break;
      seal();
    }
    ++pending_messages_;
    if (packer_.full())
      seal();
    return {};
  }

  void note(const gap& missing, timestamp when) { packer_.note(missing, when); }

  expected<totals> save(const std::string& path, mcap::text_map about) {
    seal();
    about.insert(options_.chunks.about.begin(), options_.chunks.about.end());
    numbered_files files{path, existing_file::refuse, numbering::always};
    totals result;
    std::optional<output_file> file;
    for (const auto& chunk : chunks_) {
      if (file && !file->takes(chunk))
        if (auto ended = end(file, result); !ended)
          return ended.error();
      if (!file) {
        auto created = files.next(about);
        if (!created)
          return created.error();
        file.emplace(std::move(*created));
        path_ = file->path();
      }
      if (auto added = file->add(chunk); !added)
        return added.error();
      count(chunk, result);
    }
    if (file)
      if (auto ended = end(file, result); !ended)
        return ended.error();
    return result;
  }

  std::uint64_t messages() const noexcept { return messages_ + pending_messages_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept { return path_; }

private:
  static expected<void> end(std::optional<output_file>& file, totals& result) {
    auto finished = file->finish();
    ++result.files;
    result.file_bytes += file->size_bytes();
    file.reset();
    return finished;
  }

  static void count(const sealed_chunk& chunk, totals& result) {
    result.messages += chunk.messages;
    result.chunks += chunk.messages > 0 ? 1 : 0;
    result.payload_bytes += chunk.payload_bytes;
    for (const auto& note : chunk.gaps) {
      result.missing.missed += note.missing.missed;
      result.missing.dropped += note.missing.dropped;
    }
  }

  void seal() {
    if (!packer_.pending())
      return;
    chunks_.push_back(packer_.seal());
    chunks_.back().bytes.shrink();
    pending_messages_ = 0;
    messages_ += chunks_.back().messages;
    bytes_ += chunks_.back().bytes.size();
    while (chunks_.size() > 1 && must_go(chunks_.front()))
      drop_oldest();
  }

  bool must_go(const sealed_chunk& oldest) const noexcept {
    const auto newest = chunks_.back().index.last_time;
    const auto span = static_cast<std::uint64_t>(options_.max_time.count());
    return (options_.max_bytes > 0 && bytes_ > options_.max_bytes) ||
           (span > 0 && newest > span && oldest.index.last_time < newest - span);
  }

  void drop_oldest() {
    messages_ -= chunks_.front().messages;
    bytes_ -= chunks_.front().bytes.size();
    chunks_.pop_front();
  }

  ring_options options_;
  packer packer_;
  std::deque<sealed_chunk> chunks_;
  std::uint64_t messages_ = 0; // in chunks_
  std::uint64_t pending_messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::string path_;
};

expected<ring> ring::open(ring_options options) {
  if (auto checked = check(options); !checked)
    return checked.error();
  return ring{std::make_unique<core>(std::move(options))};
}

ring::ring(std::unique_ptr<core> state) : state_(std::move(state)) {}
ring::ring(ring&&) noexcept = default;
ring& ring::operator=(ring&&) noexcept = default;
ring::~ring() = default;

expected<void> ring::write(std::span<const data_message> messages, timestamp log_time) {
  for (const auto& msg : messages)
    if (auto written = state_->write(msg, log_time); !written)
      return written;
  return {};
}

void ring::note(const gap& missing, timestamp when) {
  state_->note(missing, when);
}

expected<totals> ring::save(const std::string& path,
                            const std::map<std::string, std::string, std::less<>>& about) {
  return state_->save(path, about);
}

std::uint64_t ring::messages() const noexcept {
  return state_->messages();
}

std::uint64_t ring::bytes() const noexcept {
  return state_->bytes();
}

const std::string& ring::path() const noexcept {
  return state_->path();
}

} // namespace pubsub::record
