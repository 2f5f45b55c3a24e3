"""Peers that mean harm: how they speak, what they do, and what honest nodes make of it."""
