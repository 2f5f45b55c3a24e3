// The graph as SVG: drawn anew when its shape changes, otherwise only what has changed in it.

const svg = document.getElementById('picture');
const MOST_FLOWS = 60; // links on which one sees messages move
const SVG_NAMES = 'http://www.w3.org/2000/svg';
const picture = { shape: '', graph: null, shown: new Map(), wires: [], onChoose: () => {} };

function make(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG_NAMES, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
/// Browsers lay out anew what is set, even where it is the same.
function set(element, name, value) {
  if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function drawNetwork(openClients) {
  const graph = graphOf(openClients);
  const size = svg.getBoundingClientRect();
  const shape = `${shapeOf(graph)}|${Math.round(size.width)}x${Math.round(size.height)}`;
  if (shape !== picture.shape) {
    layOut(graph);
    picture.shape = shape;
    build(graph, size);
  }
  picture.graph = graph;
  refresh(graph);
}

function build(graph, { width, height }) {
  const count = graph.nodes.size;
  const radius = count <= 14 && width >= 520 ? 15 : count <= 45 ? 11 : count <= 110 ? 7.5 : 5.5;
  const labelled = count <= (width < 520 ? 12 : 26);
  const [marginX, marginY] = [labelled ? Math.min(90, width * 0.17) : 22, labelled ? 62 : 22];
  const at = (node) => [width / 2 + node.x * (width / 2 - marginX), height / 2 + node.y * (height / 2 - marginY)];
  const focused = svg.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.classList.toggle('crowded', graph.edges.length > 120);
  picture.shown.clear();
  picture.wires = [];
  const wires = make('g', { 'aria-hidden': 'true' }), nodes = make('g');
  const flows = graph.edges.filter((edge) => edge.peer).length <= MOST_FLOWS;
  for (const edge of graph.edges)
    picture.wires.push(drawEdge(wires, edge, at(graph.nodes.get(edge.a)), at(graph.nodes.get(edge.b)), flows));
  for (const node of graph.nodes.values()) picture.shown.set(node.id, drawNode(nodes, node, at(node), radius, labelled));
  svg.replaceChildren(wires, nodes);
  const entry = picture.shown.get(focused) ?? picture.shown.get(model.status.id);
  entry.group.setAttribute('tabindex', '0');
  if (focused) entry.group.focus();
}

function drawEdge(parent, edge, [x1, y1], [x2, y2], flows) {
  const line = make('line', { x1, y1, x2, y2 });
  parent.append(line);
  const wire = { line, flows: [] };
  if (!edge.peer) return wire;
  if (flows) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(-(y2 - y1) / length) * 3.5, ((x2 - x1) / length) * 3.5];
    for (const [name, side] of [['out', 1], ['in', -1]]) {
      const flow = make('line', { x1: x1 + dx * side, y1: y1 + dy * side, x2: x2 + dx * side, y2: y2 + dy * side, class: `flow ${name}` });
      parent.append(flow);
      wire.flows.push(flow);
    }
  }
  const touch = make('line', { x1, y1, x2, y2, class: 'touch' });
  touch.addEventListener('click', () => picture.onChoose(edge.b));
  parent.append(touch);
  return wire;
}

function drawNode(parent, node, [x, y], radius, labelled) {
  const r = node.kind === 'self' || node.count ? Math.max(radius * 1.35, 10) : radius;
  const title = make('title');
  const group = make('g', { transform: `translate(${x} ${y})`, 'data-id': node.id, role: 'button', tabindex: '-1' }, title,
    make('circle', { class: 'halo', r: r + 8 }), make('circle', { class: 'body', r }));
  const shown = { group, title, r };
  if (node.peer) {
    shown.gauge = make('circle', { class: 'gauge', r: r + 4, transform: 'rotate(-90)' });
    shown.alarm = make('circle', { class: 'alarm', r: Math.max(4, r * 0.4), cx: r * 0.8, cy: -r * 0.8 });
    group.append(shown.gauge, shown.alarm);
  }
  if (node.count) group.append(make('text', { class: 'count', y: 4 }, node.count > 999 ? '>999' : String(node.count)));
  if (labelled || node.count) {
    const above = node.depth > 0 && node.y < -0.3;
    const line = (i) => above ? -(r + 26) + i * 14 : r + 20 + i * 14;
    shown.label = make('text', { y: line(0) });
    shown.sub = make('text', { y: line(1), class: 'sub' });
    group.append(shown.label, shown.sub);
  }
  group.addEventListener('click', () => picture.onChoose(node.id));
  parent.append(group);
  return shown;
}

const STATES = { lost: 'lost', gone: 'has left', connecting: 'not reached yet', unreachable: 'out of reach' };

function refresh(graph) {
  graph.edges.forEach((edge, i) => refreshEdge(graph, edge, picture.wires[i]));
  for (const node of graph.nodes.values()) refreshNode(node, picture.shown.get(node.id));
}

function refreshEdge(graph, edge, wire) {
  if (!edge.peer) {
    const down = [edge.a, edge.b].some((id) => graph.nodes.get(id).state === 'unreachable');
    return set(wire.line, 'class', `edge far${down ? ' lost' : ''}`);
  }
  const { state, fill, rates } = edge.peer;
  set(wire.line, 'class', `edge link ${state}${fill >= 0.9 ? ' full' : fill >= 0.5 ? ' filling' : ''}`);
  [rates.sent, rates.received].forEach((rate, i) => {
    if (!wire.flows[i]) return;
    const width = rate > 0.05 ? Math.min(7, 2.4 + Math.log10(1 + rate) * 0.8) : 0;
    set(wire.flows[i], 'stroke-width', width.toFixed(1));
    set(wire.flows[i], 'visibility', width > 0 && state === 'peered' ? 'visible' : 'hidden');
  });
}

function refreshNode(node, shown) {
  const { peer } = node;
  const losing = peer && lossRate(peer.losses) > 0;
  const chosen = picture.chosen === node.id;
  set(shown.group, 'class', `node ${node.kind} ${node.state}${losing ? ' losing' : ''}${chosen ? ' chosen' : ''}`);
  set(shown.group, 'data-state', node.state);
  set(shown.group, 'aria-pressed', chosen);
  const state = STATES[node.state] ?? (node.kind === 'self' || node.count ? '' : node.far ? 'further node' : 'connected');
  const role = { self: '', clients: '', more: '', broker: 'Broker peer ' }[node.kind] ?? `${node.kind} `;
  const says = `${role}${node.label}${state ? `, ${state}` : ''}${losing ? ', losing messages' : ''}`;
  set(shown.group, 'aria-label', says);
  setText(shown.title, says);
  if (shown.gauge) {
    const around = 2 * Math.PI * (shown.r + 4), fill = peer.state === 'peered' && peer.fill > 0.01 ? peer.fill : 0;
    set(shown.gauge, 'class', `gauge ${levelOf(fill)}`);
    set(shown.gauge, 'stroke-dasharray', `${(around * fill).toFixed(1)} ${around.toFixed(1)}`);
  }
  if (!shown.label) return;
  setText(shown.label, node.label);
  const moving = peer && (peer.rates.sent > 0 || peer.rates.received > 0);
  setText(shown.sub, STATES[node.state] ?? (moving ? `out ${number(peer.rates.sent)}/s  in ${number(peer.rates.received)}/s` : ''));
}

/// Arrows go to the nearest node in their direction.
function moveFocus(event) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const here = picture.graph?.nodes.get(document.activeElement?.dataset?.id);
  if (!here) return;
  if (event.key === 'Enter' || event.key === ' ') picture.onChoose(here.id);
  else if (!step) return;
  else {
    let best = null, least = Infinity;
    const from = positionOf(here.id);
    for (const id of picture.shown.keys()) {
      const [x, y] = positionOf(id), [dx, dy] = [x - from[0], y - from[1]];
      const along = dx * step[0] + dy * step[1], aside = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
      if (along > 1 && along + 2 * aside < least) [best, least] = [id, along + 2 * aside];
    }
    if (best !== null) {
      document.activeElement.setAttribute('tabindex', '-1');
      picture.shown.get(best).group.setAttribute('tabindex', '0');
      picture.shown.get(best).group.focus();
    }
  }
  event.preventDefault();
}
function positionOf(id) {
  const { e, f } = picture.shown.get(id).group.transform.baseVal.consolidate().matrix;
  return [e, f];
}
svg.addEventListener('keydown', moveFocus);
