# @TEST-DOC: publish_rr and publish_hrw reach each member of a pool, and those that are left when one is killed.
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek"
# @TEST-EXEC: btest-bg-run worker-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-2 zeek -b ../worker.zeek"
# @TEST-EXEC: btest-bg-wait 40 || true
# @TEST-EXEC: btest-diff manager/out

# @TEST-START-FILE common.zeek
@load ./bootstrap
global ask: event(how: string, n: count) &is_used;
global answer: event(how: string, n: count, from: string) &is_used;
global die: event() &is_used;
global finish: event() &is_used;
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common
global workers: set[string];
global answers: table[string, string] of count &default=0;
global all = 0;
global rounds = 0;

function ask_all()
	{
	clear_table(answers);
	all = 0;

	for ( i in vector(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) )
		{
		Cluster::publish_rr(Cluster::worker_pool, "key", ask, "rr", i);
		Cluster::publish_hrw(Cluster::worker_pool, cat(i), ask, "hrw", i);
		}
	}

event answer(how: string, n: count, from: string)
	{
	++answers[how, from];

	if ( ++all < 20 )
		return;

	print answers["rr", "worker-1"], answers["rr", "worker-2"];
	print answers["hrw", "worker-1"] + answers["hrw", "worker-2"],
	      answers["hrw", "worker-1"] > 0, answers["hrw", "worker-2"] > 0;

	if ( ++rounds == 1 )
		Cluster::publish(Cluster::node_topic("worker-1"), die);
	else
		{
		Cluster::publish(Cluster::worker_topic, finish);
		terminate();
		}
	}

event Cluster::node_up(name: string, id: string)
	{
	add workers[name];

	if ( |workers| == 2 )
		ask_all();
	}

event Cluster::node_down(name: string, id: string)
	{
	print "down", name;

	if ( name == "worker-1" )
		ask_all();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common

event ask(how: string, n: count)
	{
	Cluster::publish(Cluster::manager_topic, answer, how, n, Cluster::node);
	}

event die()
	{
	system(fmt("kill -9 %d", getpid()));
	}

event finish()
	{
	terminate();
	}
# @TEST-END-FILE
