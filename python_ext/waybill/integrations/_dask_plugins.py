"""Plugins that take waybill to the scheduler and the workers of a Dask cluster."""

from __future__ import annotations

from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from waybill.integrations import dask


class OnScheduler(SchedulerPlugin):  # type: ignore[misc]
    name = "waybill-scheduler"
    idempotent = True

    async def start(self, scheduler: Any) -> None:
        dask._install_here()


class OnWorkers(WorkerPlugin):  # type: ignore[misc]
    """For workers that are there, and those that come. Nothing is undone when one
    closes: others, or the client, may be in the same process."""

    name = "waybill-worker"

    def setup(self, worker: Any) -> None:
        dask._install_here()
