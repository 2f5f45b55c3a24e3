# @TEST-DOC: Nodes of a host meet over sockets in a folder; in a mesh two workers still reach each other when the manager is gone.
# @TEST-PORT: MANAGER_PORT
# @TEST-PORT: PROXY_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: mkdir sockets
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager SOCKETS=$PWD/sockets zeek -b ../manager.zeek || true"
# @TEST-EXEC: btest-bg-run proxy "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=proxy SOCKETS=$PWD/sockets zeek -b ../common.zeek"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 SOCKETS=$PWD/sockets zeek -b ../worker.zeek >out"
# @TEST-EXEC: btest-bg-run worker-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-2 SOCKETS=$PWD/sockets zeek -b ../worker.zeek >out"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: for each in worker-1 worker-2; do sort $each/out >$each.out; done
# @TEST-EXEC: btest-diff worker-1.out
# @TEST-EXEC: btest-diff worker-2.out

# @TEST-START-FILE common.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::topology = Cluster::Backend::Pubsub::MESH;
redef Cluster::Backend::Pubsub::unix_directory = getenv("SOCKETS");
global die: event() &is_used;
global are_you_there: event(from: string) &is_used;
global finish: event() &is_used;

event finish()
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common

event die()
	{
	system(fmt("kill -9 %d", getpid()));
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common
global up: set[string];
global asked_by: set[string];

event zeek_init() &priority=-10
	{
	print sort(Cluster::Backend::Pubsub::connect, strcmp);
	}

event kill_manager()
	{
	Cluster::publish(Cluster::manager_topic, die);
	}

event Cluster::node_up(name: string, id: string)
	{
	add up[name];

	if ( |up| == 3 && Cluster::node == "worker-1" )
		schedule 2sec { kill_manager() };
	}

event Cluster::node_down(name: string, id: string)
	{
	if ( name != "manager" )
		return;

	print "down", name;
	Cluster::publish(Cluster::worker_topic, are_you_there, Cluster::node);
	}

event finish_all()
	{
	Cluster::publish(Cluster::proxy_topic, finish);
	Cluster::publish(Cluster::worker_topic, finish);
	terminate();
	}

event are_you_there(from: string)
	{
	print "asked by", from;

	if ( Cluster::node == "worker-1" )
		schedule 1sec { finish_all() };
	}
# @TEST-END-FILE
