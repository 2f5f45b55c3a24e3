// The network as nodes and edges, and where they stand: this node in the middle, each other node on the ring of its distance.

const FOLD_CLIENTS_FROM = 13;
const MOST_CLIENTS_SHOWN = 400;

/// `{nodes: Map of id to {id, kind, state, label, sub, peer?, info?}, edges: [{a, b, peer?}]}`
function graphOf(openClients) {
  const { status, network } = model;
  const nodes = new Map(), edges = [];
  nodes.set(status.id, { id: status.id, kind: 'self', state: 'up', label: 'this node' });
  const clients = [...model.peers.values()].filter((peer) => peer.info.client);
  const fold = clients.length >= FOLD_CLIENTS_FROM && !openClients;
  let shownClients = 0;
  for (const peer of [...model.peers.values(), ...model.gone.values()]) {
    if (peer.info.client && (fold || ++shownClients > MOST_CLIENTS_SHOWN)) continue;
    const kind = peer.info.client ? 'client' : peer.info.wire_version === 1 ? 'broker' : 'relay';
    nodes.set(peer.key, { id: peer.key, kind, state: peer.state, label: labelFor(peer.info), peer });
    edges.push({ a: status.id, b: peer.key, peer });
  }
  const folded = fold ? clients.length : Math.max(0, shownClients - MOST_CLIENTS_SHOWN);
  addCrowd(nodes, edges, 'clients', folded, folded === 1 ? 'client' : fold ? 'clients' : 'more clients');
  addCrowd(nodes, edges, 'more', status.left_out.peers, 'more peers');
  if (network) addFarNodes(nodes, edges, network);
  return { nodes, edges };
}

/// Many peers as one node.
function addCrowd(nodes, edges, kind, count, label) {
  if (count === 0) return;
  nodes.set(kind, { id: kind, kind, state: 'up', label: `${whole(count)} ${label}`, count });
  edges.push({ a: model.status.id, b: kind });
}

function addFarNodes(nodes, edges, network) {
  for (const info of network.nodes) {
    const known = nodes.get(info.id);
    if (known) known.info = info;
    else
      nodes.set(info.id, { id: info.id, kind: info.relays ? 'relay' : 'client', far: true, state: info.next_hop ? 'up' : 'unreachable',
        label: info.name || shortId(info.id), info });
  }
  const drawn = new Set();
  for (const info of network.nodes)
    for (const other of info.neighbours) {
      if (other === network.id) continue; // the status knows our links better
      if (!nodes.has(other)) nodes.set(other, { id: other, kind: 'broker', far: true, state: 'up', label: shortId(other) });
      const pair = info.id < other ? info.id + other : other + info.id;
      if (!drawn.has(pair)) edges.push({ a: info.id, b: other });
      drawn.add(pair);
    }
}

/// Says whether two graphs have the same nodes and edges, whatever their states.
const shapeOf = ({ nodes, edges }) => [...nodes.keys()].join() + '|' + edges.map((each) => each.a + each.b).join();

/// Gives each node `depth`, and `x` and `y` from -1 to 1. Depends on the graph alone. A node's children (those it is the first
/// to reach) share its part of the circle, in parts as large as what is behind them.
function layOut({ nodes, edges }) {
  const root = nodes.get(model.status.id);
  const near = new Map([...nodes.keys()].map((id) => [id, []]));
  for (const { a, b } of edges) {
    near.get(a).push(b);
    near.get(b).push(a);
  }
  for (const list of near.values()) list.sort();
  for (const node of nodes.values()) Object.assign(node, { depth: -1, children: [], leaves: 1 });
  const order = [];
  const walk = (start, depth) => {
    start.depth = depth;
    const queue = [start];
    for (let i = 0; i < queue.length; ++i) {
      order.push(queue[i]);
      for (const id of near.get(queue[i].id)) {
        const next = nodes.get(id);
        if (next.depth >= 0) continue;
        next.depth = queue[i].depth + 1;
        queue[i].children.push(next);
        queue.push(next);
      }
    }
  };
  walk(root, 0);
  for (const node of nodes.values()) // no path leads there: as far out as anything
    if (node.depth < 0) {
      root.children.push(node);
      walk(node, Math.max(2, ...order.map((each) => each.depth)));
    }
  for (const node of order.slice().reverse())
    if (node.children.length > 0) node.leaves = sum(node.children, (each) => each.leaves);
  const part = (2 * Math.PI) / root.leaves;
  const place = (node, begin) => {
    node.angle = begin + (node.leaves * part) / 2;
    let at = begin;
    for (const child of node.children) {
      place(child, at);
      at += child.leaves * part;
    }
  };
  place(root, root.children.length > 0 ? -(root.children[0].leaves * part) / 2 : 0);
  settleRings(order);
  for (const axis of ['x', 'y']) { // use all the room there is; this node need not be in the middle of it
    const all = order.map((node) => node[axis]), low = Math.min(...all), high = Math.max(...all);
    for (const node of order) node[axis] = high - low < 0.2 ? 0 : ((node[axis] - low) / (high - low)) * 2 - 1;
  }
}

function settleRings(order) {
  const deepest = Math.max(1, ...order.map((node) => node.depth));
  const rings = Array.from({ length: deepest + 1 }, () => []);
  for (const node of order) rings[node.depth].push(node);
  // A ring gets room as it has nodes: many do not fit on a short one.
  const weight = rings.map((ring, depth) => depth === 0 ? 0 : 1 + Math.sqrt(ring.length) / 4);
  const all = sum(weight, (each) => each);
  let radius = 0;
  rings.forEach((ring, depth) => {
    radius += weight[depth] / all;
    ring.sort((a, b) => a.angle - b.angle);
    const rows = ring.length > 90 ? 3 : ring.length > 36 ? 2 : 1; // neighbours stand in front of each other
    ring.forEach((node, i) => {
      const own = depth === 0 ? 0 : radius - (rows > 1 ? (i % rows) * (weight[depth] / all) * (0.55 / (rows - 1)) : 0);
      node.x = own * Math.cos(node.angle);
      node.y = own * Math.sin(node.angle);
    });
  });
}
