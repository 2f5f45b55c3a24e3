# @TEST-DOC: With overflow = BLOCK a worker that reads a file as fast as it can loses no event, however slow the manager is.
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: make-trace 20000 >packets.pcap
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b -r ../packets.pcap ../worker.zeek >out"
# @TEST-EXEC: btest-bg-wait 60
# @TEST-EXEC: btest-diff manager/out
# @TEST-EXEC: btest-diff worker-1/out

# @TEST-START-FILE common.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::overflow = Cluster::Backend::Pubsub::BLOCK;
redef Cluster::Backend::Pubsub::link_messages = 100;
redef Cluster::Backend::Pubsub::queue_messages = 100;
global seen: event(n: count, text: string) &is_used;
global echoed: event(n: count) &is_used;
global last: event(n: count) &is_used;
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common
global got = 0;

event seen(n: count, text: string)
	{
	if ( n == got )
		++got;

	Cluster::publish(Cluster::worker_topic, echoed, n);
	}

event last(n: count)
	{
	print "in order", got, "of", n;
	}

event Cluster::node_down(name: string, id: string)
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common
global packets = 0;
global echoes = 0;
global failed = 0;
global text = string_fill(500, "x");

event zeek_init()
	{
	suspend_processing();
	}

event Cluster::node_up(name: string, id: string)
	{
	continue_processing();
	}

event new_packet(c: connection, p: pkt_hdr)
	{
	if ( ! Cluster::publish(Cluster::manager_topic, seen, packets, text) )
		++failed;

	++packets;
	}

event echoed(n: count)
	{
	if ( ++echoes == 20000 )
		{
		print "packets", packets, "failed", failed, "echoes", echoes;
		Cluster::publish(Cluster::manager_topic, last, packets);
		terminate();
		}
	}
# @TEST-END-FILE
