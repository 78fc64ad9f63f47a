"""What a payload was made with, and what of that is called another way here."""
