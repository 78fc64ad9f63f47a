"""What a payload is made of, what cannot travel, and what to do about it."""
