# @TEST-DOC: Without a logger, records come typed and by name to those who subscribe to zeek/logs/, and into files.
# @TEST-REQUIRES: pubsub log-writer --help
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek"
# @TEST-EXEC: btest-bg-run sub "pubsub sub --topic zeek/logs/live --peer 127.0.0.1:${MANAGER_PORT%/tcp} --count 4 --text >out"
# @TEST-EXEC: btest-bg-run writer "pubsub log-writer --peer 127.0.0.1:${MANAGER_PORT%/tcp} --directory ."
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek"
# @TEST-EXEC: btest-bg-run local "ZEEKPATH=$ZEEKPATH:.. zeek -b ../alone.zeek"
# @TEST-EXEC: wait-for 40 test -e worker-1/done -a -e local/live.log
# @TEST-EXEC: btest-bg-wait -k 1
# @TEST-EXEC: btest-diff writer/live.log
# @TEST-EXEC: for each in writer local; do grep -v '^#open\|^#close' $each/live.log >$each.log; done
# @TEST-EXEC: cmp writer.log local.log
# @TEST-EXEC: btest-diff sub/out

# @TEST-START-FILE common.zeek
module Live;
export {
	redef enum Log::ID += { LOG };
	type Info: record {
		ts: time &log;
		text: string &log;
		number: count &log &optional;
		how_long: interval &log;
		where: addr &log;
		which: port &log;
		nets: set[subnet] &log;
		names: vector of string &log;
		real: double &log;
		yes: bool &log;
	};
	global write_all: function();
}

event zeek_init()
	{
	Log::create_stream(LOG, [$columns=Info, $path="live"]);
	}

function write_all()
	{
	local t = double_to_time(1700000000.25);
	local no_nets: set[subnet];
	local no_names: vector of string;
	Log::write(LOG, [$ts=t, $text="first\tand \x01 more", $number=1, $how_long=1.5sec, $where=192.0.2.1, $which=443/tcp,
	                 $nets=set(10.0.0.0/8), $names=vector("a", "b,c", ""), $real=0.1, $yes=T]);
	Log::write(LOG, [$ts=t + 1sec, $text="-", $how_long=0sec, $where=[2001:db8::1], $which=53/udp, $nets=no_nets,
	                 $names=no_names, $real=1e100, $yes=F]);
	Log::write(LOG, [$ts=t + 2sec, $text="", $number=3, $how_long=-1min, $where=0.0.0.0, $which=0/icmp,
	                 $nets=set([2001:db8::]/32), $names=vector("(empty)"), $real=-3.0, $yes=T]);
	}
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./bootstrap
@load frameworks/cluster/backend/pubsub/live-logs
@load ./common

event Cluster::node_down(name: string, id: string)
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./bootstrap
@load frameworks/cluster/backend/pubsub/live-logs
@load ./common

event finish_now()
	{
	system("touch done");
	terminate();
	}

event write_now()
	{
	Live::write_all();
	schedule 2sec { finish_now() };
	}

event Cluster::node_up(name: string, id: string)
	{
	schedule 3sec { write_now() };
	}
# @TEST-END-FILE

# @TEST-START-FILE alone.zeek
@load ./common

event zeek_init() &priority=-10
	{
	Live::write_all();
	}
# @TEST-END-FILE
