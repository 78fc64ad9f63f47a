"""Plugins that install waybill in the scheduler and the workers of a Dask cluster."""

from __future__ import annotations

from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from waybill.integrations import _following, dask


class OnScheduler(SchedulerPlugin):  # type: ignore[misc]
    name = "waybill-scheduler"

    def __init__(self, options: bytes = b"") -> None:
        self._options = options
        self.idempotent = not options  # Dask must run a plugin with options again.

    async def start(self, scheduler: Any) -> None:
        _following.follow(self._options)
        dask._install_here()


class OnWorkers(WorkerPlugin):  # type: ignore[misc]
    """Configures present and future workers. Undoes nothing when a worker closes:
    others, or the client, may be in the same process."""

    name = "waybill-worker"

    def __init__(self, options: bytes = b"") -> None:
        self._options = options

    def setup(self, worker: Any) -> None:
        _following.follow(self._options)
        dask._install_here()
