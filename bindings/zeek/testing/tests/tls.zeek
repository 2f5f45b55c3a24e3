# @TEST-DOC: With certificates links are encrypted, and a node with those of a stranger does not get in.
# @TEST-REQUIRES: which openssl
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: make-certificates good stranger
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager CERTS=../good zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 CERTS=../good zeek -b ../worker.zeek >out"
# @TEST-EXEC: btest-bg-run worker-2 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-2 CERTS=../stranger zeek -b ../stranger.zeek >out"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: btest-diff manager/out
# @TEST-EXEC: btest-diff worker-1/out
# @TEST-EXEC: btest-diff worker-2/out

# @TEST-START-FILE common.zeek
@load ./bootstrap
redef Cluster::Backend::Pubsub::tls_certfile = getenv("CERTS") + "/cert.pem";
redef Cluster::Backend::Pubsub::tls_keyfile = getenv("CERTS") + "/key.pem";
redef Cluster::Backend::Pubsub::tls_cafile = getenv("CERTS") + "/ca.pem";
global hi: event(from: string) &is_used;
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common

event end_now()
	{
	terminate();
	}

event hi(from: string)
	{
	print "hi from", from;
	print Cluster::Backend::Pubsub::listen[0][0:6];
	schedule 2sec { end_now() };
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common

event Cluster::node_up(name: string, id: string)
	{
	print "up", name;
	Cluster::publish(Cluster::manager_topic, hi, Cluster::node);
	}

event Cluster::node_down(name: string, id: string)
	{
	print "down", name;
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE stranger.zeek
@load ./common
global refused = F;

event Cluster::node_up(name: string, id: string)
	{
	print "must not be", name;
	}

event Cluster::Backend::Pubsub::link_failed(what: string)
	{
	if ( ! refused && /tls_failed/ in what )
		{
		refused = T;
		print "refused";
		terminate();
		}
	}
# @TEST-END-FILE
