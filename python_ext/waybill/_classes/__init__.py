"""Classes by value: split into parts, made from them, and recognized."""
