# @TEST-DOC: Events go both ways between two nodes, which see each other come and go.
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek >out"
# @TEST-EXEC: btest-bg-wait 30
# @TEST-EXEC: btest-diff manager/out
# @TEST-EXEC: btest-diff worker-1/out

# @TEST-START-FILE common.zeek
@load ./bootstrap
global ping: event(c: count) &is_used;
global pong: event(c: count) &is_used;
global i_see_you: event() &is_used;
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common

# Each node sees the other in its own time: what follows waits for both.
global seen = 0;

function begin_when_both_see()
	{
	if ( ++seen == 2 )
		Cluster::publish(Cluster::worker_topic, ping, 0);
	}

event Cluster::node_up(name: string, id: string)
	{
	print "up", name, |id|, id == Cluster::node_id();
	begin_when_both_see();
	}

event i_see_you()
	{
	begin_when_both_see();
	}

event pong(c: count)
	{
	print "pong", c;

	if ( c == 3 )
		print Cluster::publish("nobody/wants/this", ping, 0);

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
	Cluster::publish(Cluster::manager_topic, i_see_you);
	}

event ping(c: count)
	{
	print "ping", c, Cluster::publish(Cluster::manager_topic, pong, c);

	if ( c == 10 )
		terminate();
	}
# @TEST-END-FILE
