"""Class state: what a payload changes of a class that this process has."""
