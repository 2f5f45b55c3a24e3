redef Broker::disable_ssl = T;  # the relay above listens at tcp://, not at tls://

global scan_detected: event(host: addr);
global block_host: event(host: addr) &is_used;  # raised by others only

event block_host(host: addr)
	{
	print "block", host;
	}

event zeek_init()
	{
	Broker::subscribe("zeek/control/");
	Broker::peer("127.0.0.1", 9999/tcp);
	}

event Broker::peer_added(endpoint: Broker::EndpointInfo, msg: string)
	{
	Broker::publish("zeek/events/scan_detected", scan_detected, 198.51.100.9);
	}
