redef Cluster::manager_is_logger = F;

redef Cluster::nodes = {
	["manager"] = [$node_type=Cluster::MANAGER, $ip=192.0.2.1, $p=27755/tcp],
	["logger"] = [$node_type=Cluster::LOGGER, $ip=192.0.2.1, $p=27756/tcp],
	["worker-1"] = [$node_type=Cluster::WORKER, $ip=192.0.2.2],
	["worker-2"] = [$node_type=Cluster::WORKER, $ip=192.0.2.3],
};
