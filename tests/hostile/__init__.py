# SPDX-License-Identifier: BSD-3-Clause
"""Peers that mean harm: how they speak, what they do, and what honest nodes make of it."""
