"""There and back again, for fuzz_round_trip: see check()."""

import waybill
from recipes import cook
from same_graph import demand_same


def check(data: bytes) -> None:
    """Raises unless what a recipe makes comes back as it left."""
    made = cook(data)

    sent = waybill.dumps(made)
    received = waybill.loads(sent)

    demand_same(made, received)
    assert waybill.dumps(received) == sent, "other bytes on the way back"
    assert waybill.fingerprint(received) == waybill.fingerprint(made)
    demand_same(made, waybill.loads(sent))  # While the first lives.
