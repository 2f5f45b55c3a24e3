'use strict';
// What the node has told: the last status with rates, the network, and what has happened since the page was opened.

const HISTORY_SECONDS = 120;
const GONE_SECONDS = 300; // a relay that has left is shown for so long
const LOSSES = {
  dropped_oldest: 'queue full (oldest)', dropped_newest: 'queue full (newest)', dropped_overflow: 'queue full (cut off)',
  dropped_gone: 'peer went away', dropped_closed: 'subscriber closed', decode_errors: 'not decodable', conflated: 'replaced by newer',
  ttl_expired: 'hop limit used up', unreachable: 'no path to receiver', no_subscriber: 'no subscriber',
  refused_topic: 'refused: topic', refused_size: 'refused: too long', refused_closed: 'refused: closed', refused_empty: 'refused: empty',
  malformed_frames: 'malformed frames', missed: 'never arrived',
};
const model = {
  status: null, network: null, readiness: null,
  peers: new Map(), // by key: {info, rates, state, since}
  gone: new Map(),
  subscribers: [],
  totals: null, history: {},
  asked: null, // of the node that is looked at: {id, status, rates, links, losses} or {id, problem}
  events: [],
};

const keyOf = (peer) => peer.id ?? peer.address ?? '?';
const shortId = (id) => id.slice(0, 8);
const whereIs = (peer) => peer.address ?? (peer.id ? shortId(peer.id) : '?');
const nameOf = (peer) => peer.name ? `${peer.name} (${whereIs(peer)})` : whereIs(peer);
const labelFor = (peer) => peer.name || whereIs(peer);
const fillOf = (counters, capacity) => capacity > 0 ? Math.min(1, counters.queued / capacity) : 0;
const levelOf = (fill) => fill >= 0.9 ? 'bad' : fill >= 0.5 ? 'warn' : 'good';
const sum = (list, of) => list.reduce((all, each) => all + of(each), 0);

/// Of each counter how much it rose in a second; one that sank began anew.
function ratesOf(now, before, seconds) {
  const result = {};
  for (const name in now) {
    const rise = before && seconds > 0 ? now[name] - (before[name] ?? 0) : 0;
    result[name] = rise < 0 ? now[name] / seconds : seconds > 0 ? rise / seconds : 0;
  }
  return result;
}

/// The reasons for which something was lost, with numbers and rates; the most frequent first.
function lossesOf(counters, rates = {}) {
  return Object.keys(LOSSES).filter((name) => counters[name] > 0)
    .map((name) => ({ name, reason: LOSSES[name], count: counters[name], rate: rates[name] ?? 0 }))
    .sort((a, b) => b.count - a.count);
}
const isLoss = (each) => each.name !== 'conflated';
const lossRate = (list) => sum(list.filter(isLoss), (each) => each.rate);
const lossCount = (list) => sum(list.filter(isLoss), (each) => each.count);

function happened(text, kind = '') {
  model.events.unshift({ time: new Date(), text, kind });
  model.events.length = Math.min(model.events.length, 100);
}

function takePeers(status, seconds, first) {
  const seen = new Map();
  for (const info of status.peers) {
    const key = keyOf(info);
    const before = model.peers.get(key);
    const rates = ratesOf(info.counters, before?.info.counters, before ? seconds : 0);
    const peer = { key, info, rates, state: info.state, losses: lossesOf(info.counters, rates), fill: fillOf(info.counters, info.capacity_messages) };
    peer.warned = before?.warned ?? 0;
    if (peer.state !== 'peered' && before) // of a link that is gone the node tells nothing any more
      peer.losses = before.losses.map((each) => ({ ...each, rate: 0 }));
    seen.set(key, peer);
    if (!first && before?.state !== peer.state)
      happened(`${nameOf(info)} ${{ peered: 'is connected', lost: 'is lost', connecting: 'is being connected to' }[info.state]}`,
        info.state === 'peered' ? 'good' : 'bad');
    if (lossRate(peer.losses) > 0 && Date.now() - peer.warned > 60000) {
      const worst = peer.losses.filter(isLoss).sort((a, b) => b.rate - a.rate)[0];
      happened(`messages to ${nameOf(info)} are lost: ${worst.reason}`, 'bad');
      peer.warned = Date.now();
    }
  }
  for (const [key, peer] of model.peers)
    if (!seen.has(key) && status.left_out.peers === 0) {
      const renamed = [...seen.values()].some((each) => each.info.address === peer.info.address); // it has its id now
      if (renamed) continue;
      happened(`${nameOf(peer.info)} has left`, peer.info.client ? '' : 'bad');
      if (!peer.info.client) model.gone.set(key, { ...peer, state: 'gone', since: Date.now(), rates: {} });
    }
  for (const [key, peer] of model.gone)
    if (seen.has(key) || Date.now() - peer.since > GONE_SECONDS * 1000) model.gone.delete(key);
  model.peers = seen;
}

function takeSubscribers(status, before, seconds) {
  // The same place is the same subscriber, as long as there are as many.
  const same = before && before.subscribers.length === status.subscribers.length;
  model.subscribers = status.subscribers.map((info, i) => {
    const rates = ratesOf(info.counters, same ? before.subscribers[i].counters : null, seconds);
    return { info, rates, losses: lossesOf(info.counters, rates), fill: fillOf(info.counters, info.capacity_messages) };
  });
}

function remember(name, value) {
  const list = model.history[name] ??= [];
  list.push(value);
  if (list.length > HISTORY_SECONDS) list.shift();
}

function takeStatus(status) {
  const before = model.status?.id === status.id && model.status.uptime_s < status.uptime_s ? model.status : null;
  const seconds = before ? status.uptime_s - before.uptime_s : 0;
  if (model.status && !before) { // another run of the node
    happened('the node has started again', 'bad');
    model.peers.clear();
    model.gone.clear();
    model.history = {};
  }
  takePeers(status, seconds, !before);
  takeSubscribers(status, before, seconds);
  model.status = status;
  const rates = ratesOf(status.counters, before?.counters, seconds);
  const peers = [...model.peers.values()];
  const own = lossesOf(status.counters, rates);
  const all = [own, ...peers.map((each) => each.losses), ...model.subscribers.map((each) => each.losses)];
  model.totals = {
    rates, own,
    received: rates.received, published: rates.published,
    sent: sum(peers, (each) => each.rates.sent), delivered: sum(model.subscribers, (each) => each.rates.delivered),
    bytesIn: sum(peers, (each) => each.rates.bytes_received), bytesOut: sum(peers, (each) => each.rates.bytes_sent),
    queued: sum(peers, (each) => each.info.counters.queued) + sum(model.subscribers, (each) => each.info.counters.queued),
    lost: sum(all, lossCount), losing: sum(all, lossRate),
  };
  if (before)
    for (const name of ['received', 'sent', 'published', 'delivered', 'queued', 'losing']) remember(name, model.totals[name]);
}

/// What another node tells of itself, or why it does not.
function takeAnswer(id, status, problem) {
  const asked = model.asked?.id === id ? model.asked : null;
  if (!status) {
    model.asked = { ...asked, id, problem };
    return;
  }
  const before = asked?.status && asked.status.uptime_s < status.uptime_s ? asked.status : null;
  const seconds = before ? status.uptime_s - before.uptime_s : 0;
  const old = new Map((before?.peers ?? []).map((info) => [keyOf(info), info]));
  const links = status.peers.filter((info) => info.state === 'peered').map((info) => {
    const last = old.get(keyOf(info)), rates = ratesOf(info.counters, last?.counters, last ? seconds : 0);
    return { info, rates, losses: lossesOf(info.counters, rates), fill: fillOf(info.counters, info.capacity_messages) };
  });
  const rates = ratesOf(status.counters, before?.counters, seconds);
  const subscribers = status.subscribers.map((info) => lossesOf(info.counters));
  model.asked = { id, status, rates, links, losses: [...lossesOf(status.counters, rates), ...links.flatMap((each) => each.losses), ...subscribers.flat()] };
}

function takeReadiness(readiness) {
  const before = model.readiness;
  if (before && before.ready !== readiness.ready)
    happened(readiness.ready ? 'the node is ready' : `not ready: ${readiness.reason}`, readiness.ready ? 'good' : 'bad');
  model.readiness = readiness;
}

// -- numbers for people --

function scaled(x, steps) {
  let i = 0;
  while (x >= 999.5 && i + 1 < steps.length) { x /= 1000; ++i; }
  const exact = i === 0 && Number.isInteger(x);
  return x.toFixed(exact || x >= 100 || x < 0.005 ? 0 : x >= 1 ? 1 : 2) + steps[i];
}
const number = (x) => scaled(x ?? 0, ['', ' k', ' M', ' G', ' T']);
const bytes = (x) => scaled(x ?? 0, [' B', ' kB', ' MB', ' GB', ' TB']);
const whole = (x) => x.toLocaleString('en');
function duration(seconds) {
  const s = Math.floor(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min`;
  return `${Math.floor(s / 86400)} days ${Math.floor(s / 3600) % 24} h`;
}
const wants = (x) => x.topics_total === 0 ? 'nothing' : x.topics.map((topic) => topic === '' ? 'everything' : topic).join(', ') +
  (x.topics_total > x.topics.length ? ` and ${x.topics_total - x.topics.length} more` : '');
