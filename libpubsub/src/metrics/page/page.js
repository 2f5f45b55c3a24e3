// Header, details and tables; and what comes from the node.

const byId = (id) => document.getElementById(id);
const MOST_ROWS = 300;
const view = { chosen: null, openClients: false, waiting: false };

function element(name, text = '', kind = '') {
  const result = document.createElement(name);
  result.textContent = text;
  result.className = kind;
  return result;
}

// -- tiles --

const TILES = [
  ['received', 'Received', (t) => `${number(t.received)}`, '/s', (t) => `${bytes(t.bytesIn)}/s`],
  ['sent', 'Sent to peers', (t) => number(t.sent), '/s', (t) => `${bytes(t.bytesOut)}/s`],
  ['published', 'Published here', (t) => number(t.published), '/s', () => `${whole(model.status.counters.published)} in all`],
  ['delivered', 'Delivered here', (t) => number(t.delivered), '/s', () => `${whole(model.status.subscribers.length + model.status.left_out.subscribers)} subscribers`],
  ['queued', 'Waiting', (t) => number(t.queued), '', () => 'messages in queues'],
  ['losing', 'Lost', (t) => number(t.losing), '/s', (t) => t.lost > 0 ? `${whole(t.lost)} in all` : 'nothing so far'],
];
for (const [name, label] of TILES) {
  const tile = element('div', '', 'tile');
  tile.id = `tile-${name}`;
  const line = make('svg', { viewBox: '0 0 119 26', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, make('polyline'));
  tile.append(element('span', label, 'name'), element('span', '', 'value'), element('div', '', 'extra'), line);
  byId('tiles').append(tile);
}
function showTiles() {
  for (const [name, , value, unit, extra] of TILES) {
    const tile = byId(`tile-${name}`);
    const [, shown, below, line] = tile.children;
    shown.replaceChildren(value(model.totals), element('span', ` ${unit}`, 'unit'));
    setText(below, extra(model.totals));
    const list = model.history[name] ?? [], top = Math.max(1e-9, ...list), first = HISTORY_SECONDS - list.length;
    set(line.firstChild, 'points', list.map((x, i) => `${first + i},${(25 - (x / top) * 23).toFixed(1)}`).join(' '));
    tile.classList.toggle('bad', name === 'losing' && model.totals.losing > 0);
  }
}

// -- header --

function showHeader() {
  const { status, readiness } = model;
  setText(byId('node'), `${status.name} ${status.id}`);
  setText(byId('facts'), `version ${status.version}, up ${duration(status.uptime_s)}`);
  const bad = readiness && !readiness.ready;
  setText(byId('ready'), readiness ? (bad ? `not ready: ${readiness.reason}` : 'ready') : '');
  set(byId('ready'), 'class', `badge ${bad ? 'bad' : 'good'}`);
  const up = [...model.peers.values()].filter((each) => each.state === 'peered').length;
  const away = model.peers.size - up + model.gone.size, far = (model.network?.nodes.length ?? 0) + (model.network?.left_out ?? 0);
  setText(byId('census'), `${whole(up + status.left_out.peers)} connected${away ? `, ${whole(away)} lost` : ''}, ${whole(far)} nodes known`);
  document.title = `${bad || away || model.totals.losing > 0 ? '(!) ' : ''}pubsub ${status.name}`;
  const clients = [...model.peers.values()].filter((each) => each.info.client).length;
  byId('clients').hidden = clients < FOLD_CLIENTS_FROM;
  setText(byId('clients'), view.openClients ? 'Show clients as one' : `Show all ${whole(clients)} clients`);
  set(byId('clients'), 'aria-pressed', view.openClients);
}

// -- details --

function showDetails() {
  const node = picture.graph.nodes.get(view.chosen) ?? picture.graph.nodes.get(model.status.id);
  const parts = [];
  const list = (...pairs) => {
    const dl = element('dl');
    for (const [name, value, kind] of pairs) if (value !== undefined) dl.append(element('dt', name), element('dd', String(value), kind ?? ''));
    parts.push(dl);
  };
  const section = (title, ...pairs) => { if (pairs.length) { parts.push(element('h3', title)); list(...pairs); } };
  setText(byId('details-title'), node.kind === 'self' ? 'This node' : node.label);
  byId('close').hidden = node.kind === 'self';
  if (node.kind === 'self') detailsOfSelf(list, section);
  else if (node.peer) detailsOfPeer(node, list, section);
  else if (node.count) list(['Peers', whole(node.count)], ['Role', node.kind === 'clients' ? 'clients: they pass nothing on' : 'no room to tell them one by one']);
  else list(['Id', node.id, 'mono long']);
  if (node.info) detailsOfNode(node, section);
  if (node.kind !== 'self' && model.asked?.id === node.id) detailsOfAnswer(section);
  const box = byId('details-body');
  const fresh = element('div');
  fresh.append(...parts);
  if (box.innerHTML !== fresh.innerHTML) box.replaceChildren(...fresh.childNodes); // what is the same can be selected
}
const lossPairs = (losses) => losses.map((each) => [each.reason, `${whole(each.count)}${each.rate > 0 ? ` (+${number(each.rate)}/s)` : ''}`, isLoss(each) ? 'bad' : 'warn']);

function detailsOfSelf(list, section) {
  const { status, totals } = model, c = status.counters;
  list(['Id', status.id, 'mono long'], ['Version', status.version], ['Up', duration(status.uptime_s)]);
  section('Messages', ['received', whole(c.received)], ['forwarded', whole(c.forwarded)], ['published', whole(c.published)],
    ['published, unwanted', whole(c.unwanted)], ['duplicates', whole(c.duplicates)]);
  section('Lost or refused', ...lossPairs(totals.own));
  const trouble = [['denied by rules', c.denied], ['limited by rules', c.limited], ['silent peers cut', c.silent_peers], ['publish gave up', c.would_block]];
  section('Trouble', ...trouble.filter(([, n]) => n > 0).map(([name, n]) => [name, whole(n), 'warn']));
}
function detailsOfPeer({ peer }, list, section) {
  const { info, rates } = peer, c = info.counters;
  const since = peer.state === 'gone' ? ` ${duration((Date.now() - peer.since) / 1000)} ago` : '';
  list(['Name', info.name || undefined], ['Id', info.id ?? 'not known yet', 'mono long'], ['Address', info.address ?? 'unknown'],
    ['State', (STATES[peer.state] ?? 'connected') + since, peer.state === 'peered' ? 'good' : 'bad'],
    ['Role', info.wire_version ? `${info.client ? 'client' : info.wire_version === 1 ? 'Broker peer' : 'relay'}, version ${info.wire_version}` : undefined],
    ['Connects', info.outgoing ? 'this node to it' : 'it to this node'], ['Access rule', info.access ?? 'none'], ['Wants', wants(info)]);
  if (peer.state !== 'peered') return section('Before it was lost', ...lossPairs(peer.losses));
  section('Now', ['out', `${number(rates.sent)}/s, ${bytes(rates.bytes_sent)}/s`], ['in', `${number(rates.received)}/s, ${bytes(rates.bytes_received)}/s`],
    ['queue', `${whole(c.queued)} of ${whole(info.capacity_messages)}`, peer.fill >= 0.5 ? levelOf(peer.fill) : '']);
  section('In all', ['offered', whole(c.offered)], ['sent', whole(c.sent)], ['received', whole(c.received)],
    ['bytes sent', bytes(c.bytes_sent)], ['bytes received', bytes(c.bytes_received)],
    ['waits for credit', whole(c.credit_waits ?? 0), c.credit_waits > 0 ? 'warn' : '']);
  section('Lost', ...lossPairs(peer.losses));
  section('Memory held', ...Object.entries(info.held_bytes).filter(([, n]) => n > 0).map(([name, n]) => [name, bytes(n)]));
}
const labelOf = (id) => picture.graph.nodes.get(id)?.label ?? shortId(id);
function detailsOfNode({ info, far }, section) {
  const shown = info.neighbours.slice(0, 12).map(labelOf).join(', ');
  section('In the network', ...(far ? [['Reached over', info.next_hop ? labelOf(info.next_hop) : 'no path', info.next_hop ? '' : 'bad']] : []),
    ['Passes on', info.relays ? 'yes' : 'no'], [`Neighbours: ${info.neighbours.length}`, shown + (info.neighbours.length > 12 ? ' ...' : ''), 'long'],
    ...(far ? [['Wants', wants(info), 'long']] : []));
}

/// What the node itself tells; that of a link is this node's own, above.
function detailsOfAnswer(section) {
  const { status, rates, links, losses, problem } = model.asked;
  if (problem) section('It does not tell how it is', ['Why', problem, 'warn long']);
  if (!status) return;
  const c = status.counters, both = (name) => `${number(rates[name])}/s, ${whole(c[name])} in all`;
  section('It tells', ['Version', status.version], ['Up', duration(status.uptime_s)], ['received', both('received')], ['forwarded', both('forwarded')],
    ['published', both('published')], ['subscribers', whole(status.subscribers.length + status.left_out.subscribers)]);
  const shown = [...links].sort((a, b) => b.rates.sent + b.rates.received - a.rates.sent - a.rates.received).slice(0, 12);
  section(`Its links: ${whole(links.length + status.left_out.peers)}`, ...shown.map(({ info, rates: r, fill }) => [labelFor(info),
    `out ${number(r.sent)}/s, in ${number(r.received)}/s, queue ${whole(info.counters.queued)}${info.round_trip_us != null ? `, ${(info.round_trip_us / 1000).toFixed(1)} ms` : ''}`,
    fill >= 0.5 ? levelOf(fill) : 'long']));
  const together = new Map();
  for (const each of losses) {
    const known = together.get(each.name);
    together.set(each.name, known ? { ...known, count: known.count + each.count, rate: known.rate + each.rate } : each);
  }
  section('Lost there', ...lossPairs([...together.values()]));
}

// -- tables: a row is made once, and then only what has changed in it --

/// `rows`: [key, [cell...]]; a cell is a text, or a function of its element.
function fillTable(table, rows) {
  const body = table.tBodies[0], old = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  let place = body.firstElementChild;
  for (const [key, cells, kind] of rows) {
    let row = old.get(key);
    old.delete(key);
    if (!row) {
      row = document.createElement('tr');
      row.dataset.key = key;
      cells.forEach((_, i) => row.append(element('td', '', table.tHead.rows[0].cells[i].className)));
    }
    if (row === place) place = place.nextElementSibling;
    else body.insertBefore(row, place);
    set(row, 'class', kind ?? '');
    cells.forEach((cell, i) => typeof cell === 'function' ? cell(row.cells[i]) : setText(row.cells[i], cell));
  }
  for (const row of old.values()) row.remove();
}
const bar = (fill, queued) => (cell) => {
  if (!cell.firstChild) {
    cell.append(element('span', '', 'bar'), document.createTextNode(''));
    cell.firstChild.append(element('i'));
  }
  set(cell.firstChild, 'class', `bar ${levelOf(fill)}`);
  cell.firstChild.firstChild.style.width = `${(fill * 100).toFixed(0)}%`;
  if (cell.lastChild.data !== whole(queued)) cell.lastChild.data = whole(queued);
};
const lost = (losses) => (cell) => {
  set(cell, 'class', losses.some(isLoss) ? 'bad wrap' : 'wrap');
  setText(cell, losses.map((each) => `${whole(each.count)} ${each.reason}`).join(', ') || '0');
};
const colored = (text, kind) => (cell) => { set(cell, 'class', kind); setText(cell, text); };
const chooser = (id, text) => (cell) => {
  if (!cell.firstChild) {
    cell.append(element('button', text));
    cell.firstChild.type = 'button';
    cell.firstChild.addEventListener('click', () => choose(id));
  }
  setText(cell.firstChild, text);
};

function showLinks() {
  const all = [...model.peers.values(), ...model.gone.values()];
  fillTable(byId('links-table'), all.slice(0, MOST_ROWS).map((peer) => {
    const { info, rates } = peer, up = peer.state === 'peered';
    return [peer.key, [
      chooser(peer.key, nameOf(info) + (info.client ? ' (client)' : '')),
      colored(STATES[peer.state] ?? 'connected', up ? 'good' : 'bad'),
      up ? number(rates.sent) : '', up ? number(rates.received) : '', up ? bytes(rates.bytes_sent) : '', up ? bytes(rates.bytes_received) : '',
      bar(peer.fill, info.counters.queued), lost(peer.losses),
    ], peer.key === view.chosen ? 'chosen' : ''];
  }));
  const hidden = Math.max(0, all.length - MOST_ROWS) + model.status.left_out.peers;
  setText(byId('links-more'), hidden ? `${whole(hidden)} more are not listed.` : all.length ? '' : 'No peers.');
}
function showSubscribers() {
  const all = model.subscribers;
  fillTable(byId('subscribers-table'), all.slice(0, MOST_ROWS).map((each, i) => [String(i), [
    colored(wants(each.info), 'wrap'), number(each.rates.delivered), bar(each.fill, each.info.counters.queued), lost(each.losses)]]));
  const hidden = Math.max(0, all.length - MOST_ROWS) + model.status.left_out.subscribers;
  setText(byId('subscribers-more'), hidden ? `${whole(hidden)} more are not listed.` : all.length ? '' : 'None: this node only passes messages on.');
}
function showNodes() {
  if (!byId('nodes').open || !model.network) return;
  fillTable(byId('nodes-table'), model.network.nodes.slice(0, MOST_ROWS).map((info) => [info.id, [
    chooser(info.id, `${info.name} ${shortId(info.id)}`.trim()), info.next_hop ? (info.next_hop === info.id ? 'directly' : labelOf(info.next_hop)) : colored('no path', 'bad'),
    info.relays ? 'relay' : 'client', String(info.neighbours.length), colored(wants(info), 'wrap')]]));
}
function showLog() {
  const list = byId('log');
  byId('log-empty').hidden = model.events.length > 0;
  const known = list.firstElementChild?.event;
  const fresh = model.events.slice(0, known ? model.events.indexOf(known) : undefined);
  for (const event of fresh.reverse()) {
    const item = element('li');
    item.event = event;
    item.append(element('time', event.time.toLocaleTimeString('en', { hour12: false })), element('span', event.text, event.kind));
    list.prepend(item);
  }
  while (list.children.length > 100) list.lastElementChild.remove();
}

// -- other nodes: the one that is looked at is asked every second --

let asking = false;
async function askChosen() {
  const node = picture.graph?.nodes.get(view.chosen);
  if (asking || document.hidden || !node || node.kind === 'self' || node.kind === 'broker' || node.count || node.state !== 'up' && node.state !== 'peered') return;
  asking = true;
  try {
    const answer = await fetch(`status?node=${node.id}`);
    takeAnswer(node.id, answer.ok ? await answer.json() : null, answer.ok ? '' : (await answer.text()).trim());
  } catch {
    takeAnswer(node.id, null, 'no answer');
  }
  asking = false;
  showSoon();
}
setInterval(askChosen, 1000);

// -- what happens --

function show() {
  view.waiting = false;
  if (!model.status) return;
  const first = !picture.graph;
  if (first) performance.mark('first-drawing-begins');
  drawNetwork(view.openClients);
  showHeader();
  showTiles();
  showDetails();
  showLinks();
  showSubscribers();
  showNodes();
  showLog();
  if (first) requestAnimationFrame(() => setTimeout(() => performance.measure('first-drawing', 'first-drawing-begins')));
}
function showSoon() {
  if (!view.waiting) requestAnimationFrame(show);
  view.waiting = true;
}
function choose(id) {
  view.chosen = picture.chosen = id === view.chosen || id === model.status.id ? null : id;
  if (view.chosen && matchMedia('(max-width: 1000px)').matches) byId('details').scrollIntoView({ block: 'nearest' });
  showSoon();
  askChosen();
}
picture.onChoose = choose;
byId('close').addEventListener('click', () => choose(view.chosen));
byId('clients').addEventListener('click', () => { view.openClients = !view.openClients; showSoon(); });
byId('nodes').addEventListener('toggle', showSoon);
document.addEventListener('keydown', (event) => { if (event.key === 'Escape' && view.chosen) choose(view.chosen); });
new ResizeObserver(showSoon).observe(svg);

function setLive(live) {
  setText(byId('live'), live ? 'live' : 'no answer: trying again');
  set(byId('live'), 'class', `badge ${live ? 'good' : 'bad'}`);
  document.body.classList.toggle('stale', !live);
}
function connect() {
  const source = new EventSource('events');
  const on = (name, take) => source.addEventListener(name, (event) => {
    take(JSON.parse(event.data));
    setLive(true);
    showSoon();
  });
  on('status', takeStatus);
  on('ready', takeReadiness);
  on('network', (network) => { model.network = network; });
  source.addEventListener('error', () => {
    setLive(false);
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again
    setTimeout(connect, 3000);
  });
}
connect();
