"""The check that fuzz_round_trip makes of each blueprint: see check()."""

import waybill
from blueprints import build_graph
from same_graph import demand_same


def check(data: bytes) -> None:
    """Raises unless the object of a blueprint is received as it was sent."""
    graph = build_graph(data)

    sent = waybill.dumps(graph)
    received = waybill.loads(sent)

    demand_same(graph, received)
    assert waybill.dumps(received) == sent, "the received object gives other bytes"
    assert waybill.fingerprint(received) == waybill.fingerprint(graph)
    demand_same(graph, waybill.loads(sent))  # While the first is alive.
