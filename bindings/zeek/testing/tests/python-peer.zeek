# @TEST-DOC: A program in Python is a peer of the cluster: it hears events of all nodes, and sends some.
# @TEST-REQUIRES: ${PYTHON:-python3} -c 'import libpubsub'
# @TEST-PORT: MANAGER_PORT
# @TEST-EXEC: cp $FILES/*.zeek .
# @TEST-EXEC: btest-bg-run manager "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=manager zeek -b ../manager.zeek >out"
# @TEST-EXEC: btest-bg-run worker-1 "ZEEKPATH=$ZEEKPATH:.. CLUSTER_NODE=worker-1 zeek -b ../worker.zeek >out"
# @TEST-EXEC: btest-bg-run program "${PYTHON:-python3} ../program.py tcp://127.0.0.1:${MANAGER_PORT%/tcp} >out"
# @TEST-EXEC: btest-bg-wait 40
# @TEST-EXEC: btest-diff worker-1/out
# @TEST-EXEC: btest-diff program/out

# @TEST-START-FILE common.zeek
@load ./bootstrap

module Site;
export {
	global watch: event(host: addr, how_long: interval) &is_used;
	global noticed: event(node: string, what: string) &is_used;
	global finish: event() &is_used;
}
# @TEST-END-FILE

# @TEST-START-FILE manager.zeek
@load ./common

event Cluster::node_down(name: string, id: string)
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE worker.zeek
@load ./common

event Site::watch(host: addr, how_long: interval)
	{
	print "watch", host, how_long;
	Cluster::publish("site/notices", Site::noticed, Cluster::node, cat(host));
	}

event Site::finish()
	{
	terminate();
	}
# @TEST-END-FILE

# @TEST-START-FILE program.py
import sys

from libpubsub import zeek

with zeek.connect(sys.argv[1]) as cluster:
    cluster.declare("global Site::watch: event(host: addr, how_long: interval);")
    notices = cluster.events("site/notices")
    notices.subscriber.wait_ready(10)
    if not cluster.wait_for("zeek/cluster/worker", timeout=20):
        sys.exit("no worker is there")
    cluster.publish("zeek/cluster/worker", "Site::watch", "192.0.2.1", 3600)
    notice = notices.get(timeout=20)
    print(notice.topic, notice.name, *notice.args)
    cluster.publish("zeek/cluster/worker", "Site::finish")
# @TEST-END-FILE
