"""Looks at the encode cache, and past it; and what is sent for that."""

import marshal

import waybill


class Program:
    """A source that is compiled once. Each run has code of its own nevertheless."""

    def __init__(self, source):
        self._code = marshal.dumps(compile(source, "<world>", "exec"))

    def run(self, scope):
        exec(marshal.loads(self._code), scope)

    def world(self):
        """A new namespace that has run it."""
        scope = {"__name__": "nowhere"}
        self.run(scope)
        return scope


def hits_of_caches():
    return waybill.cache_info()["functions"]["hits"]


def nodes_taken(make, *arguments):
    """How many kept nodes an object has that is made and sent again and again."""
    for _ in range(3):
        waybill.dumps(make(*arguments))
    hits = hits_of_caches()
    waybill.dumps(make(*arguments))
    return hits_of_caches() - hits


def is_taken(obj):
    """Whether an object that is sent again and again goes as it was kept."""
    return nodes_taken(lambda: obj) == 1
