# Where ZeekControl looks for backends.
@load frameworks/cluster/backend/pubsub
