"""Waybill in the engines that run Python work elsewhere, one module for each.

>>> import waybill.integrations.joblib
>>> waybill.integrations.joblib.install()

A module imports its engine when ``install()`` is called, not before; ``uninstall()``
puts things back. docs/integrations.md says for each engine what changes.
"""
