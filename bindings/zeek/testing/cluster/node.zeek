# A node of a cluster that reads a trace, or waits to be killed: real_cluster.py says by the environment what it is for.
@if ( getenv("BACKEND") == "zeromq" )
@load frameworks/cluster/backend/zeromq
@else
@load frameworks/cluster/backend/pubsub
@endif

redef exit_only_after_terminate = T;
redef Log::default_rotation_interval = 0sec;

module Run;

export {
	global all_read: event(name: string) &is_used;
	global finish: event() &is_used;
}

const nodes = to_count(getenv("NODES"));
global up: set[string];
global read_by: set[string];

event zeek_init()
	{
	if ( Cluster::local_node_type() == Cluster::WORKER && getenv("TRACE") != "" )
		suspend_processing();
	}

event Cluster::node_up(name: string, id: string)
	{
	print fmt("%.6f up %s", current_time(), name);
	flush_all();
	add up[name];

	if ( Cluster::local_node_type() == Cluster::WORKER && getenv("TRACE") != "" && |up| == nodes - 1 )
		continue_processing(); # while it is suspended, no time passes that an event could be scheduled by
	}

event Cluster::node_down(name: string, id: string)
	{
	print fmt("%.6f down %s", current_time(), name);
	flush_all();
	delete up[name];
	}

event Pcap::file_done(path: string)
	{
	Cluster::publish(Cluster::manager_topic, Run::all_read, Cluster::node);
	}

event finish_others()
	{
	Cluster::publish(Cluster::proxy_topic, Run::finish);
	Cluster::publish(Cluster::logger_topic, Run::finish);
	terminate();
	}

# Workers log the connections that are still open when they end.
event finish_workers()
	{
	Cluster::publish(Cluster::worker_topic, Run::finish);
	schedule 3sec { finish_others() };
	}

event finish()
	{
	terminate();
	}

event all_read(name: string)
	{
	add read_by[name];

	if ( |read_by| == 2 )
		schedule 3sec { finish_workers() };
	}
