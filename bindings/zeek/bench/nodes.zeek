# One node of a cluster that is measured: compare.py says by the environment which backend, which test, how much.
@if ( getenv("BACKEND") == "zeromq" )
@load frameworks/cluster/backend/zeromq
@else
@load frameworks/cluster/backend/pubsub
@endif
@load base/frameworks/logging

redef exit_only_after_terminate = T;
redef Log::default_rotation_interval = 0sec;

module Perf;

export {
	redef enum Log::ID += { LOG };
	type Info: record { ts: time &log; node: string &log; number: count &log; text: string &log; };

	global start: event() &is_used;
	global finish: event() &is_used;
	global ping: event(n: count, text: string) &is_used;
	global pong: event(n: count, text: string) &is_used;
	global ready: event(name: string) &is_used;
	global finished: event(name: string) &is_used;
}

const test = getenv("TEST");
const total = to_count(getenv("TOTAL"));
const burst = to_count(getenv("BURST"));
const pause = double_to_interval(to_double(getenv("PAUSE")));
const under_way = to_count(getenv("UNDER_WAY"));
const text = string_fill(100, "x");

global used: interval;
global begun: time;
global got = 0;
global sent = 0;
global refused = 0;

function processor(): interval
	{
	local stats = get_proc_stats();
	return stats$user_time + stats$system_time;
	}

function begin()
	{
	used = processor();
	begun = current_time();
	}

function report(n: count)
	{
	print fmt("RESULT %s %d %.6f %.6f %d", Cluster::node, n, current_time() - begun, processor() - used, refused);
	flush_all();
	}

function is_worker(): bool
	{
	return Cluster::local_node_type() == Cluster::WORKER;
	}

event Perf::start()
	{
	begin();
	}

event zeek_init()
	{
	Log::create_stream(LOG, [$columns=Info, $path="perf"]);
	}

# -- a worker and the manager: a number of events is under way -------------------------------------

event ping(n: count, t: string)
	{
	++got;

	if ( test == "ping-pong" )
		Cluster::publish(Cluster::manager_topic, pong, n, t);
	}

event pong(n: count, t: string)
	{
	++got;

	if ( got == total )
		{
		report(got);
		Cluster::publish(Cluster::worker_topic, finish);
		}
	else if ( sent < total )
		{
		Cluster::publish(Cluster::worker_topic, ping, sent, text);
		++sent;
		}
	}

# -- from one to all, and logs of all: a burst, a pause --------------------------------------------

event finish_soon()
	{
	Cluster::publish(Cluster::worker_topic, finish);
	}

event send_burst()
	{
	local i = 0;

	while ( i < burst && sent < total )
		{
		if ( test == "logging" )
			Log::write(LOG, [$ts=current_time(), $node=Cluster::node, $number=sent, $text=text]);
		else if ( ! Cluster::publish(Cluster::worker_topic, ping, sent, text) )
			++refused;

		++i;
		++sent;
		}

	if ( sent < total )
		schedule pause { send_burst() };
	else if ( is_worker() )
		{
		report(sent);
		Cluster::publish(Cluster::manager_topic, finished, Cluster::node);
		}
	else
		{
		report(sent);
		schedule 2sec { finish_soon() };
		}
	}

# -- begin and end ---------------------------------------------------------------------------------

global workers: set[string];
global done: set[string];

event Perf::start() &priority=-5
	{
	if ( is_worker() && test == "logging" )
		event send_burst();
	}

event begin_all()
	{
	begin();
	Cluster::publish(Cluster::worker_topic, start);
	Cluster::publish(Cluster::logger_topic, start);

	if ( test == "broadcast" )
		schedule 100msec { send_burst() };
	else if ( test == "ping-pong" )
		while ( sent < under_way )
			{
			Cluster::publish(Cluster::worker_topic, ping, sent, text);
			++sent;
			}
	}

event Cluster::node_up(name: string, id: string)
	{
	if ( Cluster::local_node_type() != Cluster::MANAGER )
		return;

	add workers[name];

	if ( |workers| == to_count(getenv("NODES")) - 1 )
		schedule 1sec { begin_all() };
	}

event end_now()
	{
	terminate();
	}

event finish()
	{
	if ( test != "logging" )
		report(got);

	Cluster::publish(Cluster::manager_topic, ready, Cluster::node);
	schedule 100msec { end_now() };
	}

event ready(name: string)
	{
	add done[name];

	if ( |done| == Cluster::get_node_count(Cluster::WORKER) )
		{
		Cluster::publish(Cluster::logger_topic, finish);
		schedule 500msec { end_now() };
		}
	}

event stop_logging()
	{
	Cluster::publish(Cluster::logger_topic, Perf::finished, "");
	Cluster::publish(Cluster::worker_topic, finish);
	}

event finished(name: string)
	{
	if ( Cluster::local_node_type() == Cluster::LOGGER )
		{
		report(0); # the lines of its log say how many
		return;
		}

	add workers["finished " + name];
	local n = 0;

	for ( w in workers )
		if ( /^finished/ in w )
			++n;

	if ( n == Cluster::get_node_count(Cluster::WORKER) )
		schedule 3sec { stop_logging() };
	}
