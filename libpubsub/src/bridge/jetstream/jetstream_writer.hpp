// Publishes records to streams of a NATS server, many before the first is confirmed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/engine/engine_writer.hpp"
#include "bridge/engine/settled.hpp"
#include "bridge/jetstream/api_reply.hpp"
#include "bridge/jetstream/nats_link.hpp"

namespace pubsub::bridge {

/// Each record has the header `Nats-Msg-Id` where its origin and number are known: the server,
/// which remembers ids for some minutes, drops one that is sent again because its confirmation was
/// lost.
class jetstream_writer final : public engine_writer {
public:
  jetstream_writer(std::unique_ptr<nats_link> link, const jetstream& to);

  bool write(engine_record& what) override;
  void poll(const settle_record& settle) override;
  int fd() const override { return link_->fd(); }
  clock::time_point due() const override;
  void hurry() override;
  error failure() const override { return failure_; }
  std::string last_problem() const override;
  std::string usable_name(std::string_view name) const override;

private:
  enum class state : std::uint8_t {
    unsent,
    sent,
    homeless, ///< no stream takes it, which is being asked
    again,    ///< is sent again at `again_at_`
    done,     ///< settled; goes when it is the first
  };
  struct item {
    engine_record what;
    std::size_t bytes;
    state now = state::unsent;
    clock::time_point sent_at{};
    clock::time_point first_sent_at{};
  };

  void follow_connection();
  void begin();
  void take_answers();
  void take_record_answer(std::string_view token, natsMsg& answer);
  void take_stream_answer(const std::optional<api_reply>& reply);
  void take_names_answer(const std::optional<api_reply>& reply);
  void make_stream();
  void ask_for_stream();
  void look_at_time();
  void ask_for_home();
  void refuse_denied();
  void send_what_waits();
  /// False if it has to wait.
  bool send(std::size_t index);
  nats_ptr<natsMsg> message_for(std::size_t index);
  void put_off(item& x, std::string_view why);
  void settle(item& x, outcome what, std::string_view why);
  void forget_done();

  std::unique_ptr<nats_link> link_;
  const std::string stream_;
  const std::vector<std::string> subjects_;
  api_parser parser_;
  std::shared_ptr<answer_queue> confirmations_ = std::make_shared<answer_queue>();
  nats_ptr<natsSubscription> records_; // answers to records: the last part is the item's number
  nats_ptr<natsSubscription> answers_; // answers to what else is asked
  std::uint64_t generation_ = 0;
  bool polled_ = false; // before that nothing has been begun
  bool stream_is_there_ = false;
  std::deque<item> items_;
  std::uint64_t first_ = 0; // number of items_[0]
  std::uint64_t next_ = 0;  // those before it, by number, are not `unsent`
  std::size_t again_ = 0;   // items that are `again`
  std::size_t held_bytes_ = 0;
  bool any_homeless_ = false;
  std::string homeless_; // subject that is being asked for
  std::vector<settled_record> settled_;
  clock::time_point again_at_{};
  clock::time_point ask_at_ = clock::time_point::max(); // for the stream, if it is not there
  std::string problem_;
  error failure_;
};

} // namespace pubsub::bridge
