##! What can be said about the cluster backend on libpubsub. Nothing needs to be.

module Cluster::Backend::Pubsub;

export {
	## Which nodes connect to which.
	type Topology: enum {
		## All nodes connect to the manager, and to the loggers that have a port.
		HUB,
		## Also to the proxies that have a port, so that nodes reach each other without the manager.
		MESH,
		## All nodes connect to relays outside of the cluster (``pubsub node``) and to nothing else:
		## those in :zeek:see:`Cluster::Backend::Pubsub::relays`.
		RELAYS,
	};

	## What becomes of messages for a node that does not keep up, once the queue of the link to it is full.
	type Overflow: enum {
		## The arriving message is lost for this node, and counted; ``Cluster::publish`` returns F.
		DROP_NEWEST,
		## The message that waits for longest is lost for this node, and counted.
		DROP_OLDEST,
		## Nodes that publish wait, for at most :zeek:see:`Cluster::Backend::Pubsub::block_timeout`. For
		## traces from files, where nothing may be lost and time does not matter.
		BLOCK,
		## The link is closed. The node connects again, and is down until then.
		DISCONNECT,
	};

	## How log records get to loggers.
	type LogTransport: enum {
		## To one logger after another; to the next where one does not keep up.
		LOG_POOL,
		## The same, and a logger acknowledges what it has written: what it has not when it dies goes
		## to another one. Records may then be written twice.
		LOG_PIPELINE,
		## To none: see frameworks/cluster/backend/pubsub/live-logs.
		LOG_RECORDS,
	};

	const topology: Topology = HUB &redef;

	## Addresses of relays, such as ``tcp://192.0.2.1:9999``, for the topology ``RELAYS``.
	const relays: vector of string = vector() &redef;

	## Where the manager listens if the layout of the cluster gives it no port.
	const default_port = 27755/tcp &redef;

	## An absolute directory for sockets of nodes on the same host, which then move their events through memory they share, and need
	## no TCP among each other. It is made if need be, by the umask; who may write to it may join the cluster. Empty: no such
	## sockets.
	const unix_directory = "" &redef;

	## Encrypts links. Without certificates they are anonymous: no third party can read along, but any program can join.
	const tls = F &redef;
	## The certificate of this node, and those between it and the authority (PEM). It implies encryption, and that
	## the other side shows one, too.
	const tls_certfile = "" &redef;
	## The private key of the certificate (PEM).
	const tls_keyfile = "" &redef;
	const tls_passphrase = "" &redef;
	## The authorities whose certificates are accepted (PEM).
	const tls_cafile = "" &redef;

	## Whether messages between other nodes may go over this one.
	const relay = T &redef;

	## How many events, and bytes of them, wait for Zeek's main loop before the others are held back.
	const queue_messages: count = 10000 &redef;
	const queue_bytes: count = 67108864 &redef;
	## How many messages, and bytes of them, wait for each peer.
	const link_messages: count = 65536 &redef;
	const link_bytes: count = 67108864 &redef;
	const overflow: Overflow = DROP_NEWEST &redef;
	const block_timeout = 60sec &redef;

	const log_transport: LogTransport = LOG_POOL &redef;
	## How many bytes of log batches wait while no logger takes them.
	const log_backlog_bytes: count = 67108864 &redef;
	## How long after a logger of a pipeline has got records it says that they are written. Longer than
	## :zeek:see:`Log::flush_interval`; what was not acknowledged when a logger dies is written by another.
	const log_ack_delay = 2sec &redef;
	## What topics of logs begin with, for ``LOG_RECORDS``.
	const log_topic_prefix = "zeek/logs/" &redef;

	## How long termination waits for what is on its way.
	const linger = 1sec &redef;
	## How long WebSocket clients wait for their subscriptions.
	const ready_timeout = 10sec &redef;
	## A peer that says nothing for so long is lost. One that crashes is noticed at once.
	const liveness_timeout = 10sec &redef;
	## How many events are taken at once before Zeek does something else.
	const poll_max_messages: count = 100 &redef;
	const io_threads: count = 1 &redef;

	## What status and metrics call this node.
	const node_name = Cluster::node &redef;

	## Addresses that this node listens on and connects to; those of the layout and the topology if both are empty
	## when :zeek:see:`Cluster::init` is called.
	global listen: vector of string = vector() &redef;
	global connect: vector of string = vector() &redef;

	## Whether this node writes the logs of others.
	global writes_logs = F &redef;

	## Another node of the cluster can be reached. It is greeted, and answers with :zeek:see:`Cluster::hello`.
	global node_ready: event(id: string);
	## It cannot any more.
	global node_lost: event(id: string);
	## A link was lost, or could not be made: a sentence for cluster.log.
	global link_failed: event(what: string);
	## Asks a node to say who it is.
	global hello: event(name: string, id: string);
}
