# A cluster on this machine. Ports: MANAGER_PORT, and LOGGER_PORT and so on where a test allocates them.
redef Cluster::manager_is_logger = getenv("LOGGER_PORT") == "";

function port_from(name: string): port
	{
	return getenv(name) == "" ? 0/unknown : to_port(getenv(name));
	}

redef Cluster::nodes = {
	["manager"] = [$node_type=Cluster::MANAGER, $ip=127.0.0.1, $p=port_from("MANAGER_PORT")],
	["proxy"] = [$node_type=Cluster::PROXY, $ip=127.0.0.1, $p=port_from("PROXY_PORT")],
	["worker-1"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
	["worker-2"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
};

@if ( getenv("LOGGER_PORT") != "" )
redef Cluster::nodes += {
	["logger"] = [$node_type=Cluster::LOGGER, $ip=127.0.0.1, $p=port_from("LOGGER_PORT")],
};
@endif

@if ( getenv("LOGGER2_PORT") != "" )
redef Cluster::nodes += {
	["logger-2"] = [$node_type=Cluster::LOGGER, $ip=127.0.0.1, $p=port_from("LOGGER2_PORT")],
};
@endif
