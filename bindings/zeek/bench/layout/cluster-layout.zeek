# A manager that is the logger, too, cannot serve WebSocket clients with ZeroMQ: each client would listen where it does. So
# there is a logger in the layout, which does not run.
const has_logger = getenv("TEST") == "logging" || /^websocket/ in getenv("TEST");

redef Cluster::manager_is_logger = ! has_logger;

redef Cluster::nodes = {
	["manager"] = [$node_type=Cluster::MANAGER, $ip=127.0.0.1, $p=27855/tcp],
	["worker-1"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
};

@if ( has_logger )
redef Cluster::nodes += {
	["logger"] = [$node_type=Cluster::LOGGER, $ip=127.0.0.1, $p=27856/tcp],
};
@endif

@if ( getenv("TEST") == "broadcast" || getenv("TEST") == "logging" )
redef Cluster::nodes += {
	["worker-2"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
};
@endif
