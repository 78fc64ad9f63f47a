"""The environment of a payload's sender: its distributions, and names that moved."""
