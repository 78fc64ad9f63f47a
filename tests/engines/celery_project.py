"""The module of an app of Celery, which its workers and clients import.

Its broker and its results are folders beside it.
"""

PROJECT = """
import os, pathlib, tempfile
import celery, waybill
from celery.backends.filesystem import FilesystemBackend
from kombu.transport.filesystem import Channel
import waybill.integrations.celery

folder = pathlib.Path(__file__).parent
for name in ("queue", "control", "results"):
    (folder / name).mkdir(exist_ok=True)
# Both show files before they are written whole, and somebody may read them then.
put, set_ = Channel._put, FilesystemBackend.set

def put_whole(channel, queue, payload, **options):
    with tempfile.TemporaryDirectory(dir=folder) as outbox:
        channel.data_folder_out = outbox
        put(channel, queue, payload, **options)
        for name in os.listdir(outbox):
            os.replace(f"{outbox}/{name}", folder / "queue" / name)

def set_whole(backend, key, value):
    set_(backend, b".new-" + key, value)
    os.replace(backend._filename(b".new-" + key), backend._filename(key))

Channel._put, FilesystemBackend.set = put_whole, set_whole
app = celery.Celery("project", broker="filesystem://", backend=f"file://{folder}/results")
app.conf.worker_lost_wait = 0.5
app.conf.broker_transport_options = {
    "data_folder_in": f"{folder}/queue",
    "data_folder_out": f"{folder}/queue",
    "control_folder": f"{folder}/control",
    "polling_interval": 0.02,
}
policy = None
if "POLICY" in os.environ:
    policy = waybill.security.Policy(os.environ["POLICY"])
waybill.integrations.celery.install(app, policy=policy)
if "SIGNING_KEY" in os.environ:
    key = waybill.security.SigningKey.from_file(os.environ["SIGNING_KEY"])
    waybill.configure(key=key)
if "PUBLIC_KEY" in os.environ:
    waybill.restrict(keys=waybill.security.KeyRing.from_file(os.environ["PUBLIC_KEY"]))

@app.task
def call(function, *args, **kwargs):
    return function(*args, **kwargs)

@app.task
def add(x, y):
    return x + y
"""
