"""The public functions, classes and options of ``waybill``."""
