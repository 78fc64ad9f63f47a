"""Reducers of json's scanners and encoders in C; see ``_reducers``."""

import types


def reduce_scanner(obj):
    return make_scanner, (_members_of(obj),)


def make_scanner(options):
    """The scanner of a decoder with these options."""
    from json import scanner

    return scanner.make_scanner(types.SimpleNamespace(**options))


_ENCODER_OPTIONS = (
    *("markers", "default", "encoder", "indent"),
    *("key_separator", "item_separator", "sort_keys", "skipkeys"),
)


def reduce_encoder(obj):
    members = _members_of(obj)
    options = [members[name] for name in _ENCODER_OPTIONS]
    return make_encoder, (*options, _allows_nan(obj))


def _allows_nan(encoder):
    # The option is not a member.
    try:
        encoder(float("nan"), 0)
    except ValueError:
        return False
    return True


def make_encoder(*options):
    """The encoder in C with these options."""
    import _json

    return _json.make_encoder(*options)


def _members_of(obj):
    kind = types.MemberDescriptorType
    members = [n for n, v in vars(type(obj)).items() if type(v) is kind]
    return {name: getattr(obj, name) for name in sorted(members)}
