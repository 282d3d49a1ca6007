"""Seeded workloads, floors, a plain-Python peer, and the one command that measures all of them."""
