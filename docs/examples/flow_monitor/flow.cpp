#include "flow.hpp"

#include "site.hpp"

#include <algorithm>
#include <utility>

namespace flow_monitor {
namespace {

bool is_server_port(std::uint16_t port) {
  static constexpr std::array<std::uint16_t, 22> known{21,  22,  23,  25,  53,   67,  80,  110,
                                                       123, 143, 161, 389, 443,  445, 465, 514,
                                                       587, 853, 993, 995, 3306, 8080};
  return std::find(known.begin(), known.end(), port) != known.end();
}

side opposite(side which) {
  return which == side::orig ? side::resp : side::orig;
}

} // namespace

bool comes_from_responder(const packet& p) {
  if (p.protocol == transport::tcp && p.tcp.has_syn)
    return p.tcp.has_ack;
  if (p.protocol != transport::tcp && p.protocol != transport::udp)
    return false;
  return is_server_port(p.source_port) && !is_server_port(p.destination_port);
}

flow::flow(const packet& first, bool is_flipped, std::string uid)
    : protocol_(first.protocol), uid_(std::move(uid)), first_seen_(first.at), last_seen_(first.at) {
  auto& sender = at(is_flipped ? side::resp : side::orig);
  auto& receiver = at(is_flipped ? side::orig : side::resp);
  sender.address = first.source;
  sender.port = first.source_port;
  receiver.address = first.destination;
  receiver.port = first.destination_port;
  if (is_flipped)
    history_.add_flip();
}

void flow::add(const packet& p, side from) {
  auto& sender = at(from);
  auto& receiver = at(opposite(from));
  last_seen_ = std::max(last_seen_, p.at);
  sender.packets += p.ip_packets;
  sender.ip_bytes += p.ip_bytes;
  sender.events.has_sent = true;
  if (!sender.l2)
    sender.l2 = p.source_l2;
  if (!receiver.l2)
    receiver.l2 = p.destination_l2;
  if (protocol_ == transport::tcp) {
    add_tcp(p, from);
    return;
  }
  sender.payload_bytes += p.payload_bytes;
  if (protocol_ != transport::udp)
    return;
  history_.add_once('d', from);
  if (service_.empty())
    service_ = udp_service(p.payload);
}

void flow::add_tcp(const packet& p, side from) {
  add_flags(p, from);
  // What is in a RST packet is not part of the stream (RFC 9293, 3.5.2), and its numbers are often
  // made up.
  if (p.tcp.has_rst)
    return;
  if (p.payload_bytes > 0)
    add_payload(p, from);
  else if (p.tcp.has_ack && !p.tcp.has_syn && !p.tcp.has_fin)
    history_.add_once('a', from);
  if (p.tcp.has_fin) {
    note_sequence(at(from).last_fin, p.tcp.seq, 'f', from);
    at(from).events.has_fin = true;
    at(from).stream.add_fin(p.tcp.seq + (p.tcp.has_syn ? 1 : 0) + p.payload_bytes);
  }
  if (p.tcp.has_ack)
    add_ack(p, from);
  if (p.tcp.window == 0)
    history_.add_scaled('w', from);
}

// Repetitions of the same packet are not noted again.
void flow::note_sequence(std::optional<std::uint32_t>& last, std::uint32_t seq, char letter,
                         side from) {
  if (last != seq)
    history_.add(letter, from);
  last = seq;
}

void flow::add_flags(const packet& p, side from) {
  auto& sender = at(from);
  if (p.tcp.has_syn && (p.tcp.has_fin || p.tcp.has_rst))
    history_.add_once('q', from);
  else if (p.tcp.has_fin && p.tcp.has_rst)
    history_.add_once('i', from);
  if (p.tcp.has_syn) {
    note_sequence(sender.last_syn, p.tcp.seq, p.tcp.has_ack ? 'h' : 's', from);
    (p.tcp.has_ack ? sender.events.has_syn_ack : sender.events.has_syn) = true;
    sender.stream.start(p.tcp.seq + 1);
  } else if (!p.tcp.has_rst && !sender.stream.is_started()) {
    sender.stream.start(p.tcp.seq);
  }
  if (p.tcp.has_rst) {
    note_sequence(sender.last_rst, p.tcp.seq, 'r', from);
    const bool is_over = at(side::orig).events.has_fin && at(side::resp).events.has_fin;
    if (!reset_by_ && !is_over)
      reset_by_ = from;
  }
}

void flow::add_payload(const packet& p, side from) {
  auto& sender = at(from);
  history_.add_once('d', from);
  const auto segment = sender.stream.add_data(p.tcp.seq + (p.tcp.has_syn ? 1 : 0), p.payload_bytes);
  if (segment.kind == segment_kind::repeated)
    history_.add_scaled('t', from);
  if (segment.kind == segment_kind::impossible || segment.offset_bytes < 0)
    return;
  sender.head.add(static_cast<std::uint64_t>(segment.offset_bytes), p.payload);
  if (service_.empty() && segment.offset_bytes < std::int64_t{first_bytes::capacity})
    look_for_service();
}

void flow::add_ack(const packet& p, side from) {
  const auto acknowledged = opposite(from);
  const auto missed = at(acknowledged).stream.add_ack(p.tcp.ack);
  if (missed == 0)
    return;
  missed_bytes_ += missed;
  history_.add_scaled('g', acknowledged);
}

void flow::look_for_service() {
  service_ = tcp_service(at(side::orig).head.view(), at(side::resp).head.view());
}

flow_phase flow::phase() const {
  if (protocol_ != transport::tcp)
    return flow_phase::datagrams;
  if (reset_by_)
    return flow_phase::reset;
  const auto& orig = at(side::orig).events;
  const auto& resp = at(side::resp).events;
  if (orig.has_fin && resp.has_fin)
    return flow_phase::closed;
  return orig.has_sent && resp.has_sent ? flow_phase::connected : flow_phase::attempt;
}

bool flow::is_succeeded_by(const packet& p) const {
  const auto now = phase();
  if (now != flow_phase::closed && now != flow_phase::reset)
    return false;
  if (!p.tcp.has_syn || p.tcp.has_ack || p.tcp.has_rst)
    return false;
  const bool is_from_orig =
      p.source == at(side::orig).address && p.source_port == at(side::orig).port;
  return at(is_from_orig ? side::orig : side::resp).last_syn != p.tcp.seq;
}

conn_record flow::to_record() const {
  const auto& orig = at(side::orig);
  const auto& resp = at(side::resp);
  const bool is_tcp = protocol_ == transport::tcp;
  conn_record r;
  r.ts = first_seen_;
  r.uid = uid_;
  r.orig_h = orig.address;
  r.orig_p = orig.port;
  r.resp_h = resp.address;
  r.resp_p = resp.port;
  r.proto = protocol_;
  r.service = service_;
  if (last_seen_ > first_seen_) {
    r.duration = last_seen_ - first_seen_;
    r.orig_bytes = is_tcp ? orig.stream.size_bytes() : orig.payload_bytes;
    r.resp_bytes = is_tcp ? resp.stream.size_bytes() : resp.payload_bytes;
  }
  if (is_tcp)
    r.conn_state = tcp_state(orig.events, resp.events, reset_by_);
  else if (protocol_ == transport::udp)
    r.conn_state = udp_state(orig.events.has_sent, resp.events.has_sent);
  else
    r.conn_state = "OTH";
  r.local_orig = is_local(orig.address);
  r.local_resp = is_local(resp.address);
  r.missed_bytes = missed_bytes_;
  r.history = history_.text();
  r.orig_pkts = orig.packets;
  r.orig_ip_bytes = orig.ip_bytes;
  r.resp_pkts = resp.packets;
  r.resp_ip_bytes = resp.ip_bytes;
  r.ip_proto = static_cast<std::uint64_t>(protocol_);
  r.orig_l2_addr = orig.l2;
  r.resp_l2_addr = resp.l2;
  return r;
}

} // namespace flow_monitor
