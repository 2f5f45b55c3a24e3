# @TEST-DOC: Records of all nodes are written by the loggers, each once (log_transport = LOG_PIPELINE).
# @TEST-PORT: MANAGER_PORT
# @TEST-PORT: LOGGER_PORT
# @TEST-PORT: LOGGER2_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek"
# @TEST-EXEC: btest-bg-run logger "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=logger zeek -b ../logger.zeek"
# @TEST-EXEC: btest-bg-run logger-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=logger-2 zeek -b ../logger.zeek"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek"
# @TEST-EXEC: btest-bg-run worker-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-2 zeek -b ../worker.zeek"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: for each in logger logger-2; do test $(grep -c -v '^#' $each/rolled.log) -gt 100; done
# @TEST-EXEC: cat logger*/rolled.log | zeek-cut node number | sort -u | cut -f 1 | sort | uniq -c | sed 's/^ *//' >records
# @TEST-EXEC: cat logger*/rolled.log | grep -c -v '^#' >>records
# @TEST-EXEC: btest-diff records

# @TEST-START-FILE common.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::log_transport = Cluster::Backend::Pubsub::LOG_PIPELINE;
redef Log::enable_local_logging = F;
redef Log::enable_remote_logging = T;

module Rolled;
export {
	redef enum Log::ID += { LOG };
	type Info: record { node: string &log; number: count &log; };
	global done: event(name: string) &is_used;
	global finish: event() &is_used;
}

event zeek_init()
	{
	Log::create_stream(LOG, [$columns=Info, $path="rolled"]);
	}

event finish()
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common
global workers: set[string];

event finish_all()
	{
	Cluster::publish(Cluster::logger_topic, Rolled::finish);
	Cluster::publish(Cluster::worker_topic, Rolled::finish);
	terminate();
	}

event Rolled::done(name: string)
	{
	add workers[name];

	if ( |workers| == 2 )
		schedule 2sec { finish_all() };
	}
# @TEST-END-FILE

# @TEST-START-FILE logger.zeek
@load ./common
redef Log::enable_local_logging = T;
redef Log::enable_remote_logging = F;
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common
global loggers = 0;

event write_some(from: count)
	{
	for ( i in vector(0, 1, 2, 3, 4, 5, 6, 7, 8, 9) )
		Log::write(Rolled::LOG, [$node=Cluster::node, $number=from + i]);

	if ( from + 10 < 1000 )
		schedule 1msec { write_some(from + 10) };
	else
		Cluster::publish(Cluster::manager_topic, Rolled::done, Cluster::node);
	}

event Cluster::node_up(name: string, id: string)
	{
	if ( name in set("logger", "logger-2") && ++loggers == 2 )
		event write_some(0);
	}
# @TEST-END-FILE
