# What every node of a test loads.
@load frameworks/cluster/backend/pubsub

redef exit_only_after_terminate = T;
redef Log::default_rotation_interval = 0sec;
redef Log::flush_interval = 0.01sec;
redef Log::write_buffer_size = 10;
