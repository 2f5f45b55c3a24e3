# @TEST-DOC: A node that is killed is down for the others at once, and up again when it comes back.
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-2 zeek -b ../other.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "$SCRIPTS/killed-once ../worker.zeek"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: btest-diff manager/out
# @TEST-EXEC: btest-diff worker-2/out

# @TEST-START-FILE manager.zeek
@load ./bootstrap
global done: event() &is_used;
global ups = 0;
global die: event() &is_used;
global killed_at: time;

event die_soon()
	{
	killed_at = current_time();
	Cluster::publish(Cluster::node_topic("worker-1"), die);
	}

event finish_all()
	{
	Cluster::publish(Cluster::worker_topic, done);
	}

event Cluster::node_up(name: string, id: string)
	{
	if ( name != "worker-1" )
		return;

	print "up", name;

	if ( ++ups == 1 )
		schedule 1sec { die_soon() };
	else
		schedule 1sec { finish_all() };
	}

event Cluster::node_down(name: string, id: string)
	{
	if ( name == "worker-1" && ups == 1 )
		print "down", name, current_time() - killed_at < 1sec;
	else if ( name == "worker-2" )
		terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE other.zeek
@load ./bootstrap
global done: event() &is_used;

event Cluster::node_up(name: string, id: string)
	{
	if ( name == "worker-1" )
		print "up", name;
	}

event Cluster::node_down(name: string, id: string)
	{
	if ( name == "worker-1" )
		print "down", name;
	}

event done()
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./bootstrap
global done: event() &is_used;
global die: event() &is_used;

event die()
	{
	system(fmt("kill -9 %d", getpid()));
	}

event done()
	{
	terminate();
	}
# @TEST-END-FILE
