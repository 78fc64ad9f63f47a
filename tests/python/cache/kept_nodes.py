"""Looks at the encode cache, and past it."""

import waybill


def hits_of_caches():
    return waybill.cache_info()["functions"]["hits"]


def is_taken(obj):
    """Whether an object that is sent again and again goes as it was kept."""
    for _ in range(3):
        waybill.dumps(obj)
    hits = hits_of_caches()
    waybill.dumps(obj)
    return hits_of_caches() == hits + 1


def dumps_without_caches(obj):
    waybill.configure(caches=False)
    try:
        return waybill.dumps(obj)
    finally:
        waybill.configure(caches=True)
