# Workers: what to_all_workers.py asks for. Everybody: notices for follow_notices.py.
module Site;

export {
	global watch: event(host: addr, how_long: interval) &is_used;
	global noticed: event(node: string, note: string, msg: string) &is_used;
}

global watched: set[addr] &create_expire=1hr;

event Site::watch(host: addr, how_long: interval)
	{
	add watched[host];
	print fmt("watching %s for %s", host, how_long);
	}

hook Notice::policy(n: Notice::Info)
	{
	Cluster::publish("site/notices", Site::noticed, Cluster::node, cat(n$note), n?$msg ? n$msg : "");
	}
