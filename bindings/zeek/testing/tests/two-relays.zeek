# @TEST-DOC: Nodes that listen nowhere meet over two relays outside of the cluster.
# @TEST-REQUIRES: which pubsub
# @TEST-PORT: RELAY1_PORT
# @TEST-PORT: RELAY2_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run relay-1 "pubsub node --listen 127.0.0.1:${RELAY1_PORT%/tcp}"
# @TEST-EXEC: btest-bg-run relay-2 "pubsub node --listen 127.0.0.1:${RELAY2_PORT%/tcp} --peer 127.0.0.1:${RELAY1_PORT%/tcp}"
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager RELAY=tcp://127.0.0.1:${RELAY1_PORT%/tcp} zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 RELAY=tcp://127.0.0.1:${RELAY2_PORT%/tcp} zeek -b ../worker.zeek >out"
# @TEST-EXEC: wait-for 30 test -e manager/done -a -e worker-1/done
# @TEST-EXEC: btest-bg-wait -k 1
# @TEST-EXEC: btest-diff manager/out
# @TEST-EXEC: btest-diff worker-1/out

# @TEST-START-FILE common.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::topology = Cluster::Backend::Pubsub::RELAYS;
redef Cluster::Backend::Pubsub::relays = vector(getenv("RELAY"));
global ping: event(c: count) &is_used;
global pong: event(c: count) &is_used;

event zeek_done() &priority=-2000
	{
	system("touch done");
	}
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common

event Cluster::node_up(name: string, id: string)
	{
	print "up", name;
	Cluster::publish(Cluster::worker_topic, ping, 0);
	}

event pong(c: count)
	{
	print "pong", c;
	Cluster::publish(Cluster::worker_topic, ping, c + 1);
	}

event Cluster::node_down(name: string, id: string)
	{
	print "down", name;
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common

event Cluster::node_up(name: string, id: string)
	{
	print "up", name;
	}

event ping(c: count)
	{
	Cluster::publish(Cluster::manager_topic, pong, c);

	if ( c == 5 )
		terminate();
	}
# @TEST-END-FILE
