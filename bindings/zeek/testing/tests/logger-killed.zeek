# @TEST-DOC: A logger that is killed while records come loses none of them in a pipeline: the other one writes them.
# @TEST-PORT: MANAGER_PORT
# @TEST-PORT: LOGGER_PORT
# @TEST-PORT: LOGGER2_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek"
# @TEST-EXEC: btest-bg-run logger "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=logger zeek -b ../logger.zeek >out"
# @TEST-EXEC: btest-bg-run logger-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=logger-2 zeek -b ../dies.zeek || true"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek"
# @TEST-EXEC: btest-bg-wait 60
# @TEST-EXEC: cat logger/seen.log logger-2/seen.log | grep '^[0-9]' | sort -n -u | wc -l >numbers
# @TEST-EXEC: test $(grep -c '^[0-9]' logger-2/seen.log) -gt 10
# @TEST-EXEC: btest-diff numbers

# @TEST-START-FILE common.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::log_transport = Cluster::Backend::Pubsub::LOG_PIPELINE;
redef Log::enable_local_logging = F;
redef Log::enable_remote_logging = T;

module Seen;
export {
	redef enum Log::ID += { LOG };
	type Info: record { number: count &log; };
	global done: event() &is_used;
	global finish: event() &is_used;
}

event zeek_init()
	{
	Log::create_stream(LOG, [$columns=Info, $path="seen"]);
	}

event finish()
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common

event finish_all()
	{
	Cluster::publish(Cluster::logger_topic, Seen::finish);
	Cluster::publish(Cluster::worker_topic, Seen::finish);
	terminate();
	}

event Seen::done()
	{
	schedule 6sec { finish_all() };
	}
# @TEST-END-FILE

# @TEST-START-FILE logger.zeek
@load ./common
redef Log::enable_local_logging = T;
redef Log::enable_remote_logging = F;
# @TEST-END-FILE

# @TEST-START-FILE dies.zeek
@load ./logger
redef LogAscii::output_to_stdout = F;

event die()
	{
	system(fmt("kill -9 %d", getpid()));
	}

event Cluster::node_up(name: string, id: string)
	{
	if ( name == "worker-1" )
		schedule 1.5sec { die() };
	}

# What was written is in the file: the writer is asked to flush now and then.
event flush()
	{
	Log::flush(Seen::LOG);
	schedule 5msec { flush() };
	}

event zeek_init()
	{
	event flush();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common
global loggers = 0;

event write_some(from: count)
	{
	for ( i in vector(0, 1, 2, 3, 4, 5, 6, 7, 8, 9) )
		Log::write(Seen::LOG, [$number=from + i]);

	if ( from + 10 < 10000 )
		schedule 3msec { write_some(from + 10) };
	else
		Cluster::publish(Cluster::manager_topic, Seen::done);
	}

event Cluster::node_up(name: string, id: string)
	{
	if ( name in set("logger", "logger-2") && ++loggers == 2 )
		event write_some(0);
	}
# @TEST-END-FILE
