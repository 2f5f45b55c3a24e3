redef Cluster::manager_is_logger = getenv("TEST") != "logging";

redef Cluster::nodes = {
	["manager"] = [$node_type=Cluster::MANAGER, $ip=127.0.0.1, $p=27855/tcp],
	["worker-1"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
};

@if ( getenv("TEST") == "logging" )
redef Cluster::nodes += {
	["logger"] = [$node_type=Cluster::LOGGER, $ip=127.0.0.1, $p=27856/tcp],
};
@endif

@if ( getenv("TEST") != "ping-pong" )
redef Cluster::nodes += {
	["worker-2"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
};
@endif
