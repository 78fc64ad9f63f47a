"""Declarative classes of SQLAlchemy: what they were declared with, found again.

Mapping a class replaces what was declared: columns and relationships become attributes
that know mapper, registry and each other, none of which can travel. What can is the
table, and the relationships as they were asked for; the class is mapped anew from them
where it arrives. Classes that it is related to come along.

SQLAlchemy is never imported to send: a class of it shows that it is there.
Tested by tests/libraries/test_sqlalchemy.py.
"""

import sys

#: What relationship() takes and a relationship has under the same name.
_OPTIONS = (
    "back_populates",
    "uselist",
    "lazy",
    "collection_class",
    "passive_deletes",
    "passive_updates",
    "post_update",
    "single_parent",
    "innerjoin",
    "viewonly",
    "join_depth",
    "doc",
    "info",
)
#: What it takes and keeps aside, as it was given.
_ARGUMENTS = (
    "secondary",
    "primaryjoin",
    "secondaryjoin",
    "order_by",
    "foreign_keys",
    "remote_side",
)

#: What a class has to be made with.
_DECLARED = ("metadata", "type_annotation_map", "__abstract__", "__mapper_args__")


def is_declarative(cls):
    api = sys.modules.get("sqlalchemy.orm.decl_api")
    kinds = (api.DeclarativeAttributeIntercept, api.DeclarativeMeta) if api else ()
    return isinstance(cls, kinds)


def declare_again(cls, own, namespace):
    """Moves attributes to the namespace that a class is made with, or drops them.

    The attribute `__mapper__` holds the related classes, which have to be there when
    the class is first used, and the constructor.
    """
    orm = sys.modules["sqlalchemy.orm"]
    manager = own.pop("_sa_class_manager", None)
    own.pop("_sa_registry", None)
    registry = own.pop("registry", None)
    if registry is not None and isinstance(cls, orm.DeclarativeMeta):
        # Made by declarative_base(), whose classes want to be told their registry.
        namespace["registry"] = registry
        own.pop("metadata", None)
    for name in _DECLARED:
        if name in own:
            namespace[name] = own.pop(name)
    if own.pop("__mapper__", None) is None:
        return
    if "__table__" in own:
        namespace["__table__"] = own.pop("__table__")
    own.pop("__init__", None)  # The mapper's, around the author's.
    inherited = [vars(base).get("__init__") for base in cls.__mro__[1:]]
    init = manager.original_init
    is_own = not any(init is other for other in inherited)
    related = []
    for attribute in manager.mapper.attrs:
        if not isinstance(own.pop(attribute.key, None), orm.InstrumentedAttribute):
            continue
        if isinstance(attribute, orm.RelationshipProperty):
            namespace[attribute.key] = attribute
            related.append(attribute.mapper.class_)
        elif isinstance(attribute, orm.ColumnProperty):
            column = attribute.columns[0]
            if getattr(column, "key", None) != attribute.key:
                namespace[attribute.key] = column
        else:
            raise TypeError(
                f"{attribute} cannot be declared again; define it in a module"
            )
    own["__mapper__"] = related, init if is_own else None


def finish_mapping(cls, related_and_init):
    """Does what the attribute `__mapper__` asks for."""
    related, init = related_and_init
    manager = sys.modules["sqlalchemy.orm"].attributes.manager_of_class(cls)
    # Until the mapper is first used it knows them by name; nobody else may hold them.
    manager.mapper._waybill_related = related
    if init is not None:
        # It may refer to its class, and so could not be there when that was made.
        manager.original_init = init
        manager._instrument_init()


def reduce_relationship(obj):
    given = {n: getattr(obj, n) for n in _OPTIONS if getattr(obj, n, None) is not None}
    for name in _ARGUMENTS:
        argument = getattr(obj._init_args, name).argument
        if argument is not None and argument is not False:
            given[name] = argument
    if not obj.viewonly:
        given["cascade"] = ", ".join(sorted(obj.cascade))
    return make_relationship, (obj.mapper.class_.__name__, given)


def make_relationship(target, given):
    from sqlalchemy.orm import relationship

    return relationship(target, **given)


def reduce_registry(obj):
    given = {"metadata": obj.metadata, "constructor": obj.constructor}
    return make_registry, ({**given, "type_annotation_map": obj.type_annotation_map},)


def make_registry(given):
    from sqlalchemy.orm import registry

    return registry(**given)


def reduce_mapper(obj):
    return find_mapper, (obj.class_,)


def find_mapper(cls):
    from sqlalchemy.orm import class_mapper

    return class_mapper(cls, configure=False)


def reduce_attribute(obj):
    return getattr, (obj.class_, obj.key)


#: As NAMED_REDUCERS of _reducers.py, of which it becomes a part.
NAMED_REDUCERS = {
    "_RelationshipDeclared": {"sqlalchemy.orm.relationships": reduce_relationship},
    "Relationship": {"sqlalchemy.orm.relationships": reduce_relationship},
    "RelationshipProperty": {"sqlalchemy.orm.relationships": reduce_relationship},
    "registry": {"sqlalchemy.orm.decl_api": reduce_registry},
    "Mapper": {"sqlalchemy.orm.mapper": reduce_mapper},
    "InstrumentedAttribute": {"sqlalchemy.orm.attributes": reduce_attribute},
}
