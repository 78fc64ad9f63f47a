"""Sends every shape from one process and receives it in another."""

import ast
import marshal
import os
import subprocess
import sys
from pathlib import Path

import packages

WORKER = Path(__file__).with_name("worker.py")
SECONDS = 300


def run_both_ends(shapes, serializer, folder, python=sys.executable):
    """Reports of the sender and of the receiver, by the shapes' ids."""
    folder = Path(folder)
    package_folder, payload_folder = folder / "packages", folder / "payloads"
    payload_folder.mkdir(parents=True)
    packages.write_packages(package_folder, sys.version_info[:2])
    tasks = folder / "tasks"
    tasks.write_bytes(
        marshal.dumps(
            {
                "tops": sorted(packages.TOPS),
                "preloaded": packages.PRELOADED,
                "tasks": [shape.as_task() for shape in shapes],
            }
        )
    )

    reports = []
    for role in ("send", "receive"):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
        environment.pop(packages.RECEIVER_FLAG, None)
        if role == "receive":
            environment[packages.RECEIVER_FLAG] = "1"
        report = folder / role
        paths = (package_folder, payload_folder, tasks, report)
        subprocess.run(
            [python, WORKER, role, serializer, *map(str, paths)],
            env=environment,
            cwd=folder,
            timeout=SECONDS,
            check=True,
        )
        lines = map(ast.literal_eval, report.read_text("utf-8").splitlines())
        reports.append({line["id"]: line for line in lines})
    return reports
