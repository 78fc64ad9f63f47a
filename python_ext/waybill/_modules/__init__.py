"""Modules by value."""
