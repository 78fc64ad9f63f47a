"""Integrations with engines that run Python code in other processes, one module each.

>>> import waybill.integrations.joblib
>>> waybill.integrations.joblib.install()

A module imports its engine when ``install()`` is called, not before; ``uninstall()``
restores the engine. docs/integrations.md says for each engine what changes.
"""
