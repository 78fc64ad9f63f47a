"""Explains payloads: their contents, objects that cannot travel, and remedies."""
