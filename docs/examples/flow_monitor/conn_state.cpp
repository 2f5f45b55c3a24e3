#include "conn_state.hpp"

namespace flow_monitor {
namespace {

std::string_view reset_state(bool is_attempted, bool is_answered, side by) {
  if (is_attempted && is_answered)
    return by == side::orig ? "RSTO" : "RSTR";
  if (is_attempted)
    return by == side::orig ? "RSTOS0" : "REJ";
  if (is_answered && by == side::resp)
    return "RSTRH";
  return "OTH";
}

} // namespace

std::string_view tcp_state(const tcp_events& orig, const tcp_events& resp,
                           std::optional<side> reset_by) {
  const bool is_attempted = orig.has_syn;
  const bool is_answered = resp.has_syn_ack;
  if (reset_by)
    return reset_state(is_attempted, is_answered, *reset_by);
  if (is_attempted && is_answered) {
    if (orig.has_fin)
      return resp.has_fin ? "SF" : "S2";
    return resp.has_fin ? "S3" : "S1";
  }
  if (is_attempted && orig.has_fin)
    return "SH";
  if (is_attempted && !resp.has_sent)
    return "S0";
  if (is_answered && resp.has_fin)
    return "SHR";
  return "OTH";
}

std::string_view udp_state(bool has_orig_sent, bool has_resp_sent) {
  if (has_orig_sent)
    return has_resp_sent ? "SF" : "S0";
  return has_resp_sent ? "SHR" : "OTH";
}

} // namespace flow_monitor
