"""Reducers of types that few payloads hold, by topic; each is loaded on first use.

Payloads name what a receiver calls: the names and the arguments of these modules'
``make_...`` functions are part of the format.
"""
