"""Reducers of kinds that few payloads hold, by topic; loaded when one is met.

What a receiver calls is looked up here by name: the names and the arguments of the
``make_...`` functions are part of the format.
"""
