"""The functions and options of ``waybill`` itself."""
