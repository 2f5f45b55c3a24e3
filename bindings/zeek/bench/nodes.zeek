# One node of a cluster that is measured: compare.py says by the environment which backend, which test, how much.
@if ( getenv("BACKEND") == "zeromq" )
@load frameworks/cluster/backend/zeromq
@endif
@if ( getenv("BACKEND") == "pubsub" )
@load frameworks/cluster/backend/pubsub
redef Cluster::Backend::Pubsub::unix_directory = getenv("SOCKETS");
@endif
@if ( getenv("BACKEND") == "floor" )
# One process is all nodes.
@load base/frameworks/cluster
redef Cluster::backend = Cluster::CLUSTER_BACKEND_FLOOR;
redef Log::enable_remote_logging = T;
redef Log::enable_local_logging = F;
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
	global more: event(n: count) &is_used;
	global stop: event() &is_used;
}

const test = getenv("TEST");
const is_floor = getenv("BACKEND") == "floor";
const total = to_count(getenv("TOTAL"));
const burst = to_count(getenv("BURST"));
const pause = double_to_interval(to_double(getenv("PAUSE")));
const under_way = to_count(getenv("UNDER_WAY"));
# string_fill ends what it makes with a zero byte, which Zeek's JSON does not escape.
const text = string_fill(101, "x")[0:100];

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

global is_over = F;

function report(n: count)
	{
	if ( is_over )
		return;

	is_over = is_floor;
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

event end_now()
	{
	terminate();
	}

# -- a client of the manager's WebSocket server, and a worker --------------------------------------

global reported = F;
global allowed = 0;

function finish_for_client()
	{
	if ( reported )
		return;

	reported = T;
	report(got);
	Cluster::publish("perf/out", finished, Cluster::node);
	}

event more(n: count)
	{
	allowed += n;

	while ( sent < allowed && sent < total )
		{
		Cluster::publish("perf/out", ping, sent, text);
		++sent;
		}
	}

event stop()
	{
	if ( ! reported )
		report(got);

	schedule 100msec { end_now() };
	}

event zeek_init()
	{
	if ( /^websocket/ in test )
		Cluster::subscribe("perf/all");

	if ( /^websocket/ in test && is_worker() )
		Cluster::subscribe("perf/in");
	}

# -- a worker and the manager: a number of events is under way -------------------------------------

event ping(n: count, t: string)
	{
	if ( test == "ping-pong" )
		{
		Cluster::publish(Cluster::manager_topic, pong, n, t);
		return;
		}

	++got;

	if ( test == "websocket" )
		Cluster::publish("perf/out", pong, n, t);
	else if ( test == "websocket-in" && got == total )
		finish_for_client();
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

global sent_at: time;

event floor_done()
	{
	begun = begun + (current_time() - sent_at); # the time is that of sending alone
	report(sent);
	terminate();
	}

# One that has sent all its records becomes the logger.
function floor_sent()
	{
	sent_at = current_time();
	Log::remove_stream(LOG);
	Log::create_stream(LOG, [$columns=Info, $path="perf"]);
	local filter = Log::get_filter(LOG, "default");
	filter$log_local = T;
	filter$log_remote = F;
	Log::add_filter(LOG, filter);
	Cluster::publish(Cluster::manager_topic, finished, Cluster::node);
	schedule 3sec { floor_done() };
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
	else if ( is_floor )
		floor_sent();
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
	else if ( is_worker() && /^websocket/ in test )
		Cluster::publish("perf/out", ready, Cluster::node);
	}

event begin_all()
	{
	if ( /^websocket/ in test )
		{
		Cluster::listen_websocket([$listen_addr=127.0.0.1, $listen_port=27857/tcp]);
		return; # the client begins
		}

	begin();
	Cluster::publish(Cluster::worker_topic, start);
	Cluster::publish(Cluster::logger_topic, start);

	if ( test == "broadcast" || ( test == "logging" && is_floor ) )
		schedule 100msec { send_burst() };
	else if ( test == "ping-pong" )
		while ( sent < under_way )
			{
			Cluster::publish(Cluster::worker_topic, ping, sent, text);
			++sent;
			}
	}

event zeek_init() &priority=-10
	{
	if ( ! is_floor )
		return;

	Cluster::init();
	schedule 500msec { begin_all() };
	}

event Cluster::node_up(name: string, id: string)
	{
	if ( Cluster::local_node_type() != Cluster::MANAGER )
		return;

	add workers[name];

	if ( |workers| == to_count(getenv("NODES")) - 1 )
		schedule 1sec { begin_all() };
	}

event finish()
	{
	if ( test == "websocket-in" )
		{
		finish_for_client(); # what has not come until now is lost
		return;
		}

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
