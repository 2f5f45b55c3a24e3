# In place of Zeek's own file of this name: the same ports, and this backend.
@load frameworks/cluster/backend/pubsub

redef Cluster::Backend::Pubsub::default_port = to_port(getenv("XPUB_PORT"));
