redef Cluster::manager_is_logger = F;

redef Cluster::nodes = {
	["manager"] = [$node_type=Cluster::MANAGER, $ip=127.0.0.1, $p=27955/tcp],
	["logger"] = [$node_type=Cluster::LOGGER, $ip=127.0.0.1, $p=27956/tcp],
	["proxy"] = [$node_type=Cluster::PROXY, $ip=127.0.0.1],
	["worker-1"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
	["worker-2"] = [$node_type=Cluster::WORKER, $ip=127.0.0.1],
};
