"""Payloads in files, pipes and sockets: as a whole, in pieces, and part by part."""
