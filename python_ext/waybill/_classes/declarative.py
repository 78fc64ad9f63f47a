"""Declarative classes of SQLAlchemy: what they were declared with, found again.

Mapping a class replaces what was declared: columns and relationships become attributes
that know mapper, registry and each other, none of which can travel. What can is the
table, and the relationships as they were asked for; the class is mapped anew from them
where it arrives. Classes that it is related to come along. So it is with classes that a
registry maps: decorated ones, dataclasses, those mapped to a table by a call.

SQLAlchemy is never imported to send: a class of it shows that it is there.
Tested by tests/libraries/test_sqlalchemy.py, tests/libraries/test_derived_of_tables.py.
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


def is_mapped(own):
    """Whether a class with these attributes is mapped, whatever its metaclass is."""
    return "_sa_class_manager" in own


def declare_again(cls, own, namespace):
    """Moves attributes to the namespace that a class is made with, or drops them.

    The attribute `__mapper__` holds the related classes, which have to be there when
    the class is first used, and the constructor; `_sa_class_manager` what a class is
    mapped with once it has all else.
    """
    orm = sys.modules["sqlalchemy.orm"]
    manager = own.pop("_sa_class_manager", None)
    own.pop("_sa_registry", None)
    registry = own.pop("registry", None) if is_declarative(cls) else None
    if registry is not None and isinstance(cls, orm.DeclarativeMeta):
        # Made by declarative_base(), whose classes want to be told their registry.
        namespace["registry"] = registry
        own.pop("metadata", None)
    for name in _DECLARED:
        if name in own:
            namespace[name] = own.pop(name)
    if own.pop("__mapper__", None) is None:
        return
    inherited = [vars(base).get("__init__") for base in cls.__mro__[1:]]
    own.pop("__init__", None)  # The mapper's, around the author's.
    init = manager.original_init
    if any(init is other for other in inherited):
        init = None
    if not is_declarative(cls) or "_sa_apply_dc_transforms" in own:
        own["_sa_class_manager"] = _mapping_of(cls, manager, own, init)
        # Dataclasses would be mapped by a hook, which wants annotations and fields.
        namespace["__init_subclass__"] = False
        return
    if "__table__" in own:
        namespace["__table__"] = own.pop("__table__")
    related = _take_properties(manager.mapper, own, namespace)
    own["__mapper__"] = related, init


def _take_properties(mapper, own, declared):
    """Moves the attributes of a class that are mapped to what it is declared with, as
    far as they do not follow from the table. Answers the related classes."""
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
                f"{attribute} cannot be declared again; define it in a module"
            )
    return related


def _mapping_of(cls, manager, own, init):
    """What map_again() maps a class with that is not mapped by its statement."""
    mapper, properties, options, defaults = manager.mapper, {}, {}, {}
    own.pop("__table__", None)
    for attribute in mapper.column_attrs:
        # Of a dataclass; before 2.1 that had them itself.
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
    """Does what the attribute `_sa_class_manager` asks for, once for each class."""
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


#: Rows of _reducers.
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
    # Types of columns that are what their attributes say.
    "sqlalchemy.sql.sqltypes BigInteger Boolean Date DateTime Double Float Integer "
    "JSON LargeBinary NullType Numeric SmallInteger String Text Time Unicode "
    "UnicodeText Uuid": "schema_items.reduce_type",
}
