# SPDX-License-Identifier: BSD-3-Clause
"""What tools/faults is made of: programs under control, a world of nodes, the checker, scenarios."""
