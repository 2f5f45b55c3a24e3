##! Makes libpubsub the cluster backend: all that a user loads.

@load base/frameworks/cluster
@load base/utils/addrs
@load base/utils/numbers

@load ./options

module Cluster::Backend::Pubsub;

redef Cluster::backend = Cluster::CLUSTER_BACKEND_PUBSUB;

function node_id(): string
	{
	return __node_id();
	}

redef Cluster::node_id = node_id;

redef Cluster::Telemetry::topic_normalizations += {
	[/^zeek\/cluster\/nodeid\/.*/] = "zeek/cluster/nodeid/__normalized__",
};

function is_encrypted(): bool
	{
	return tls || tls_certfile != "" || tls_cafile != "";
	}

function is_logger(n: Cluster::Node): bool
	{
	return n$node_type == Cluster::LOGGER ||
	       (Cluster::manager_is_logger && n$node_type == Cluster::MANAGER);
	}

function port_of(n: Cluster::Node): count
	{
	local p = port_to_count(n$p);
	return p == 0 && n$node_type == Cluster::MANAGER ? port_to_count(default_port) : p;
	}

# Whether others connect to this node.
function is_listening(n: Cluster::Node): bool
	{
	if ( topology == RELAYS || port_of(n) == 0 )
		return F;

	return n$node_type == Cluster::MANAGER || n$node_type == Cluster::LOGGER ||
	       (topology == MESH && n$node_type == Cluster::PROXY);
	}

function network_address(n: Cluster::Node): string
	{
	return fmt("%s://%s:%d", is_encrypted() ? "tls" : "tcp", addr_to_uri(n$ip), port_of(n));
	}

function socket_address(name: string): string
	{
	return fmt("unix://%s/%s.sock", unix_directory, name);
	}

# Of two nodes that listen one connects to the other: the proxies to all others, the loggers to the manager.
function connects(name: string, n: Cluster::Node, other_name: string, other: Cluster::Node): bool
	{
	if ( ! is_listening(other) || other_name == name )
		return F;

	if ( ! is_listening(n) )
		return T;

	local ranks = table([Cluster::MANAGER] = 0, [Cluster::LOGGER] = 1, [Cluster::PROXY] = 2);
	local own = ranks[n$node_type];
	local others = ranks[other$node_type];
	return own > others || (own == others && strcmp(name, other_name) > 0);
	}

function use_layout(name: string, n: Cluster::Node)
	{
	if ( is_listening(n) )
		{
		listen += network_address(n);

		if ( unix_directory != "" )
			{
			mkdir(unix_directory);
			listen += socket_address(name);
			}
		}

	for ( other_name, other in Cluster::nodes )
		{
		if ( ! connects(name, n, other_name, other) )
			next;

		local is_near = unix_directory != "" && other$ip == n$ip;
		connect += is_near ? socket_address(other_name) : network_address(other);
		}

	if ( topology == RELAYS )
		connect += relays;
	}

event zeek_init() &priority=100
	{
	if ( Cluster::backend != Cluster::CLUSTER_BACKEND_PUBSUB || Cluster::node !in Cluster::nodes )
		return;

	local n = Cluster::nodes[Cluster::node];
	writes_logs = writes_logs || is_logger(n);

	if ( |listen| == 0 && |connect| == 0 )
		use_layout(Cluster::node, n);
	}

event zeek_init() &priority=10
	{
	if ( getenv("ZEEKCTL_CHECK_CONFIG") != "" || getenv("ZEEKCTL_DISABLE_LISTEN") != "" )
		return;

	if ( Cluster::backend != Cluster::CLUSTER_BACKEND_PUBSUB )
		return;

	if ( ! Cluster::init() )
		Reporter::fatal("pubsub: the cluster backend cannot start");
	}

# Two nodes that see each other both ask, and each takes the other for up when that has answered. So a node is up here
# whenever it can be reached again, whether it has noticed that it could not be or not.
event node_ready(id: string)
	{
	if ( Cluster::node != "" )
		Cluster::publish(Cluster::nodeid_topic(id), hello, Cluster::node, Cluster::node_id());
	}

event hello(name: string, id: string) &is_used
	{
	Cluster::publish(Cluster::nodeid_topic(id), Cluster::hello, Cluster::node, Cluster::node_id());
	}

event node_lost(id: string)
	{
	local known = Cluster::nodeid_to_node(id);

	if ( known$name != "" )
		event Cluster::node_down(known$name, id);
	}

event link_failed(what: string)
	{
	if ( Cluster::is_enabled() )
		Cluster::log(what);
	}

# After this the files are closed.
event zeek_done() &priority=-1000
	{
	if ( Cluster::backend == Cluster::CLUSTER_BACKEND_PUBSUB && writes_logs )
		__write_pending_logs();
	}
