"""Plugins that take waybill to the scheduler and the workers of a Dask cluster."""

from __future__ import annotations

from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from waybill.integrations import _following, dask


class OnScheduler(SchedulerPlugin):  # type: ignore[misc]
    name = "waybill-scheduler"

    def __init__(self, told: bytes = b"") -> None:
        self._told = told
        self.idempotent = not told  # Who says more is to be heard again.

    async def start(self, scheduler: Any) -> None:
        _following.follow(self._told)
        dask._install_here()


class OnWorkers(WorkerPlugin):  # type: ignore[misc]
    """For workers that are there, and those that come. Nothing is undone when one
    closes: others, or the client, may be in the same process."""

    name = "waybill-worker"

    def __init__(self, told: bytes = b"") -> None:
        self._told = told

    def setup(self, worker: Any) -> None:
        _following.follow(self._told)
        dask._install_here()
