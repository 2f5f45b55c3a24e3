# @TEST-DOC: Zeek finds the plugin, and what it brings.
# @TEST-EXEC: zeek -NN Pubsub::Cluster_Backend_Pubsub | sed -e 's/(dynamic, version .*)/(version)/' >output
# @TEST-EXEC: TEST_DIFF_CANONIFIER= btest-diff output
