"""Reads bridge-spec, checks it, and makes what follows from it."""
