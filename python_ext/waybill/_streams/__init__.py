"""Payloads in files, pipes and sockets: whole, piece by piece, and part by part."""
