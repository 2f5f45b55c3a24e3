# @TEST-DOC: Cluster::publish says F for a node that does not keep up, and counts it.
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek >out"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: btest-diff manager/out

# @TEST-START-FILE manager.zeek
@load ./bootstrap
@load base/frameworks/telemetry
redef Cluster::Backend::Pubsub::link_messages = 100;
global large: event(s: string) &is_used;
global stop_now: event() &is_used;

event flood()
	{
	local text = string_cat("x", "y");

	for ( i in vector(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13) )
		text = text + text;

	local lost = 0;
	local sent = 0;

	while ( lost < 10 && sent < 100000 )
		{
		++sent;

		if ( ! Cluster::publish(Cluster::worker_topic, large, text) )
			++lost;
		}

	print "lost", lost, "sent more", sent > 100;
	local metrics = Telemetry::collect_metrics("zeek", "cluster_pubsub_events_published_total");

	for ( _, m in metrics )
		if ( m$label_values[|m$label_values| - 1] == "dropped" )
			print m$label_values[|m$label_values| - 1], m$value;

	terminate();
	}

event Cluster::node_up(name: string, id: string)
	{
	Cluster::publish(Cluster::worker_topic, stop_now);
	schedule 1sec { flood() };
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::queue_messages = 10;
global large: event(s: string) &is_used;
global stop_now: event() &is_used;

event large(s: string)
	{
	}

event stop_now()
	{
	system(fmt("kill -STOP %d", getpid()));
	}

event zeek_init()
	{
	system(fmt("(sleep 6; kill -CONT %d) >/dev/null 2>&1 &", getpid()));
	}

event Cluster::node_down(name: string, id: string)
	{
	terminate();
	}
# @TEST-END-FILE
