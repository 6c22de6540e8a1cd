"""Reads and checks bridge-spec, and generates files from it."""
