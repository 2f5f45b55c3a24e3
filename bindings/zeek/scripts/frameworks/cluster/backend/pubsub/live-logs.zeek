##! Logs without loggers: every node publishes its log records, typed, one by one, for those who subscribe to
##! ``zeek/logs/``: ``pubsub log-writer`` writes them into files, ``pubsub sub``, programs in Python and C++, and
##! bridges read them as they come.

@load ./options
@load ./main

redef Cluster::log_serializer = Cluster::LOG_SERIALIZER_PUBSUB_RECORDS_V1;
redef Cluster::Backend::Pubsub::log_transport = Cluster::Backend::Pubsub::LOG_RECORDS;
redef Log::enable_remote_logging = T;
redef Log::enable_local_logging = F;
