"""There and back again, for fuzz_round_trip: see check()."""

import waybill
from recipes import cook
from same_graph import demand_same


def check(data: bytes) -> None:
    """Raises unless the object of a recipe is received as it was sent."""
    made = cook(data)

    sent = waybill.dumps(made)
    received = waybill.loads(sent)

    demand_same(made, received)
    assert waybill.dumps(received) == sent, "other bytes on the way back"
    assert waybill.fingerprint(received) == waybill.fingerprint(made)
    demand_same(made, waybill.loads(sent))  # While the first lives.
