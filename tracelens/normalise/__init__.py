"""Normalisation in bulk: compiled rules and canonical digests. Imports kernels and columns, never a rung."""
