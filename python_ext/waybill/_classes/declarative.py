"""Declarative classes of SQLAlchemy: restores the declaration of a mapped class.

Mapping a class replaces its declaration: columns and relationships become attributes
that refer to mapper, registry and each other, none of which can be sent. The payload
has the table, the arguments of the relationships, and the related classes; the receiver
maps the class again. It does the same with classes that a registry maps: decorated
ones, dataclasses, and those mapped to a table by a call.

The sender never imports SQLAlchemy: it is loaded if a class uses it.
Tested by tests/libraries/test_sqlalchemy.py, tests/libraries/test_derived_of_tables.py.
"""

import sys

#: Arguments of relationship() that are attributes of a relationship.
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
#: Arguments that are attributes of ``_init_args`` of a relationship.
_ARGUMENTS = (
    "secondary",
    "primaryjoin",
    "secondaryjoin",
    "order_by",
    "foreign_keys",
    "remote_side",
)

#: Attributes that must be in the namespace of the class statement.
_DECLARED = ("metadata", "type_annotation_map", "__abstract__", "__mapper_args__")


def is_declarative(cls):
    api = sys.modules.get("sqlalchemy.orm.decl_api")
    kinds = (api.DeclarativeAttributeIntercept, api.DeclarativeMeta) if api else ()
    return isinstance(cls, kinds)


def is_mapped(own):
    """Whether a class with these attributes is mapped, with any metaclass."""
    return "_sa_class_manager" in own


def declare_again(cls, own, namespace):
    """Moves attributes to the namespace of the class statement, or drops them.

    The attribute `__mapper__` holds the related classes, which must exist when the
    class is first used, and the constructor. `_sa_class_manager` holds the arguments of
    map_again(), which is called after all other attributes are set.
    """
    orm = sys.modules["sqlalchemy.orm"]
    manager = own.pop("_sa_class_manager", None)
    own.pop("_sa_registry", None)
    registry = own.pop("registry", None) if is_declarative(cls) else None
    if registry is not None and isinstance(cls, orm.DeclarativeMeta):
        # A class of declarative_base() must be given its registry.
        namespace["registry"] = registry
        own.pop("metadata", None)
    for name in _DECLARED:
        if name in own:
            namespace[name] = own.pop(name)
    if own.pop("__mapper__", None) is None:
        return
    inherited = [vars(base).get("__init__") for base in cls.__mro__[1:]]
    own.pop("__init__", None)  # The mapper's __init__, which wraps the author's.
    init = manager.original_init
    if any(init is other for other in inherited):
        init = None
    if not is_declarative(cls) or "_sa_apply_dc_transforms" in own:
        own["_sa_class_manager"] = _mapping_of(cls, manager, own, init)
        # The hook that maps dataclasses needs annotations and fields.
        namespace["__init_subclass__"] = False
        return
    if "__table__" in own:
        namespace["__table__"] = own.pop("__table__")
    related = _take_properties(manager.mapper, own, namespace)
    own["__mapper__"] = related, init


def _take_properties(mapper, own, declared):
    """Moves mapped attributes to the declaration, unless they follow from the table.
    Returns the related classes."""
    orm = sys.modules["sqlalchemy.orm"]
    related = []
    for attribute in mapper.attrs:
        if not isinstance(own.pop(attribute.key, None), orm.InstrumentedAttribute):
            continue
        if isinstance(attribute, orm.RelationshipProperty):
            declared[attribute.key] = attribute
            related.append(attribute.mapper.class_)
        elif isinstance(attribute, orm.ColumnProperty):
            column = attribute.columns[0]
            if getattr(column, "key", None) != attribute.key:
                declared[attribute.key] = column
        else:
            raise TypeError(
                f"{attribute} is neither a column nor a relationship, and cannot be "
                "declared again by the receiver; define its class in a module"
            )
    return related


def _mapping_of(cls, manager, own, init):
    """The arguments of map_again() for a class that is mapped after it is made."""
    mapper, properties, options, defaults = manager.mapper, {}, {}, {}
    own.pop("__table__", None)
    for attribute in mapper.column_attrs:
        # Columns of dataclasses have this attribute from SQLAlchemy 2.1 on.
        default = getattr(attribute, "_default_scalar_value", None)
        if default is not None and attribute.key in own:
            defaults[attribute.key] = attribute.columns[0], default
    related = _take_properties(mapper, own, properties)
    if mapper.inherits is not None:
        options["inherits"] = mapper.inherits.class_
        options["polymorphic_identity"] = mapper.polymorphic_identity
    elif mapper.polymorphic_on is not None:
        options["polymorphic_on"] = mapper.polymorphic_on
        options["polymorphic_identity"] = mapper.polymorphic_identity
    registry = None if is_declarative(cls) else manager.registry
    table = mapper.local_table
    return registry, table, properties, defaults, options, related, init


def map_again(cls, mapping):
    """Maps a class as the attribute `_sa_class_manager` describes, once."""
    if is_mapped(vars(cls)):
        return
    registry, table, properties, defaults, options, related, init = mapping
    orm = sys.modules["sqlalchemy.orm"]
    for name in defaults:
        column, value = defaults[name]
        properties[name] = orm.ColumnProperty(column, default_scalar_value=value)
    if init is not None:
        type.__setattr__(cls, "__init__", init)
    registry = cls._sa_registry if registry is None else registry
    mapper = registry.map_imperatively(cls, table, properties=properties, **options)
    mapper._waybill_related = related


def finish_mapping(cls, related_and_init):
    """Completes a mapping as the attribute `__mapper__` describes."""
    related, init = related_and_init
    manager = sys.modules["sqlalchemy.orm"].attributes.manager_of_class(cls)
    # The mapper finds related classes by name at its first use, so they must live.
    manager.mapper._waybill_related = related
    if init is not None:
        # ``init`` may refer to its class, so it is set after the class is made.
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


#: Reducers by type: rows of the table in _reducers.
ROWS = {
    "sqlalchemy.orm.attributes InstrumentedAttribute": reduce_attribute,
    "sqlalchemy.orm.decl_api registry": reduce_registry,
    "sqlalchemy.orm.mapper Mapper": reduce_mapper,
    "sqlalchemy.orm.properties MappedColumn": "schema_items.reduce_schema_item",
    "sqlalchemy.orm.relationships Relationship RelationshipProperty": (
        reduce_relationship
    ),
    "sqlalchemy.orm.relationships _RelationshipDeclared": reduce_relationship,
    "sqlalchemy.sql.schema Table Column Index": "schema_items.reduce_schema_item",
    "sqlalchemy.sql.schema CheckConstraint ForeignKeyConstraint": (
        "schema_items.reduce_schema_item"
    ),
    "sqlalchemy.sql.schema PrimaryKeyConstraint UniqueConstraint": (
        "schema_items.reduce_schema_item"
    ),
    # Types of columns that their attributes describe.
    "sqlalchemy.sql.sqltypes BigInteger Boolean Date DateTime Double Float Integer "
    "JSON LargeBinary NullType Numeric SmallInteger String Text Time Unicode "
    "UnicodeText Uuid": "schema_items.reduce_type",
}
