"""Classes by value: taken apart, made, and recognized."""
