# SPDX-License-Identifier: BSD-3-Clause
"""ZeekControl's part of the cluster backend over libpubsub: ``ClusterBackend = pubsub`` in zeekctl.cfg.

To be copied into a folder of ZeekControl's ``SitePluginPath``, or of its own plugins.
"""

import os

import ZeekControl.config
import ZeekControl.plugin

LONGEST_SOCKET_PATH = 107  # bytes; the system's limit


def zeek_string(value):
    """A value as a string of Zeek's language."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class ClusterBackendPubsub(ZeekControl.plugin.Plugin):
    def __init__(self):
        super().__init__(apiversion=1)

    def name(self):
        return "cluster_backend_pubsub"

    def pluginVersion(self):
        return 1

    def options(self):
        return [
            ("tls_certfile", "string", "", "Certificate of the nodes (PEM); empty: links are not encrypted"),
            ("tls_keyfile", "string", "", "Private key of the certificate (PEM)"),
            ("tls_cafile", "string", "", "Certificates of the authorities that count (PEM)"),
            ("unix_directory", "string", "spool", "Folder for sockets between the nodes of a host, which share memory then; "
             "spool: one in SpoolDir; empty: they use TCP"),
            ("live_logs", "bool", False, "Publish log records for subscribers, in place of loggers"),
        ]

    def init(self):
        if self.getGlobalOption("ClusterBackend").lower() != "pubsub":
            return False
        if not self.getGlobalOption("ClusterTopicSeparator"):
            ZeekControl.config.Config.set_option("ClusterTopicSeparator", "/")
        hosts = {node.addr for node in self.nodes()}
        if len(hosts) > 1 and not self.getOption("tls_certfile"):
            self.message("Warning: this cluster has several hosts, and its links are not encrypted: "
                         "see cluster_backend_pubsub.tls_certfile.")
        return True

    def unix_directory(self):
        directory = self.getOption("unix_directory")
        if directory != "spool":
            return directory
        directory = os.path.join(self.getGlobalOption("SpoolDir"), "sockets")
        longest = max(len(node.name) for node in self.nodes())
        return directory if len(directory) + longest + len("/.sock") < LONGEST_SOCKET_PATH else ""

    def zeekctl_config(self):
        lines = ["# Cluster backend over libpubsub", "@load frameworks/cluster/backend/pubsub"]
        values = {option: self.getOption(option) for option in ("tls_certfile", "tls_keyfile", "tls_cafile")}
        for option, value in {**values, "unix_directory": self.unix_directory()}.items():
            if value:
                lines.append(f"redef Cluster::Backend::Pubsub::{option} = {zeek_string(value)};")
        if self.getOption("live_logs"):
            lines.append("@load frameworks/cluster/backend/pubsub/live-logs")
        if ZeekControl.config.Config.standalone:
            # A node of a cluster does so by itself; zeekctl's commands come on this topic.
            topic = f"zeek/cluster/node/{self.nodes()[0].name}/"
            lines += ["event zeek_init()", "\t{", f"\tCluster::subscribe({zeek_string(topic)});", "\t}"]
        return "\n".join(lines + [""])
