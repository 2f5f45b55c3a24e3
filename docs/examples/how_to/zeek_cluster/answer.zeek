module My;
export {
	global question: event(n: count) &is_used;  # raised by others only
	global answer: event(node: string, n: count);
}
event My::question(n: count)
	{
	Cluster::publish("my/answers", My::answer, Cluster::node, n + 1);
	}
