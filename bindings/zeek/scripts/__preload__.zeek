# Loaded with the plugin, whether its backend is used or not: so it chooses nothing.
