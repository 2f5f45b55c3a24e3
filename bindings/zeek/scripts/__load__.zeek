# The backend is chosen by loading frameworks/cluster/backend/pubsub.
