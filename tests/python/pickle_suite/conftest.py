"""Puts waybill in place of pickle while CPython's pickle tests run."""

import pickle_face
import pytest


@pytest.fixture(autouse=True)
def _waybill_as_pickle(tmp_path, monkeypatch):
    from test import pickletester

    monkeypatch.chdir(tmp_path)  # The tests write to the current folder.
    monkeypatch.setattr(pickletester, "pickle", pickle_face.face())
    monkeypatch.setattr(pickletester, "protocols", pickle_face.OneProtocol())
    for name in ("opcode_in_pickle", "count_opcode"):
        monkeypatch.setattr(pickletester, name, lambda *_: pickle_face.OPCODES)
