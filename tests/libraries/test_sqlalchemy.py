"""Declarative classes of SQLAlchemy that are defined in __main__ travel."""

import pytest
from claims_in_text import read_claims
from main_script import send

pytest.importorskip("sqlalchemy", minversion="2")

MODELS = """
from typing import Optional
from sqlalchemy import ForeignKey, String, create_engine, func, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
class Base(DeclarativeBase):
    pass
class User(Base):
    __tablename__ = "user"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(30))
    nick: Mapped[Optional[str]]
    posts: Mapped[list["Post"]] = relationship(back_populates="user")
    def shout(self): return self.name.upper()
class Post(Base):
    __tablename__ = "post"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    user: Mapped[User] = relationship(back_populates="posts")
def stored(user):
    engine = create_engine("sqlite://")
    type(user).metadata.create_all(engine)
    with Session(engine) as session:
        session.add(user)
        session.commit()
        return session.scalars(select(type(user))).one().name
"""


OF_MODELS = """
a class maps there
    value = User, stored
    >>> value[1](value[0](name='x'))
    "x"

a related class is there when the first instance is made
    value = User
    >>> (__import__('gc').collect(), list(value(name='x').posts))[1]
    []

an instance that was read from a database arrives
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(User(id=7, name="x"))
        session.commit()
        value = session.scalars(select(User)).one()
        value.name
    >>> value.id, value.name, value.nick
    7, "x", None

a statement arrives
    value = select(User.name).where(User.id == 3)
    >>> 'WHERE "user".id = :id_1' in str(value)
    True
"""


@pytest.mark.parametrize(
    "script, expression, expected", read_claims(OF_MODELS, start=MODELS)
)
def test_a_mapped_class_works(script, expression, expected):
    assert send(script, expression) == expected


def test_an_instance_can_be_stored_there():
    script = MODELS + "value = User(name='x', posts=[Post(), Post()]), stored"

    expression = (
        "value[0].shout(), len(value[0].posts), value[0].posts[1].user is value[0]"
    )
    assert send(script, expression) == ("X", 2, True)
    assert send(script, "value[1](value[0])") == "x"


ALONE = """
tables without classes arrive
    from sqlalchemy import Column, Integer, MetaData, Table
    table = Table("t", MetaData(), Column("id", Integer, primary_key=True), Column("n", Integer))
    value = table
    >>> [str(c.name) for c in value.columns]
    ["id", "n"]

relationships of many to many arrive
    from sqlalchemy import Column, ForeignKey, Integer, Table
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
    class Base(DeclarativeBase): pass
    links = Table("links", Base.metadata,
                  Column("a", ForeignKey("left.id"), primary_key=True),
                  Column("b", ForeignKey("right.id"), primary_key=True))
    class Left(Base):
        __tablename__ = "left"
        id: Mapped[int] = mapped_column(primary_key=True)
        rights: Mapped[set["Right"]] = relationship(secondary=links, lazy="selectin")
    class Right(Base):
        __tablename__ = "right"
        number: Mapped[int] = mapped_column("id", primary_key=True)
    value = Left(rights={Right(number=3)})
    >>> [r.number for r in value.rights]
    [3]

a base of the older kind and a constructor arrive
    from sqlalchemy import Column, Integer, String
    from sqlalchemy.ext.hybrid import hybrid_property
    from sqlalchemy.orm import declarative_base
    Base = declarative_base()
    class User(Base):
        __tablename__ = "user"
        key = Column("id", Integer, primary_key=True)
        name = Column(String(30), default=lambda: "nobody")
        def __init__(self, name):
            super().__init__(name=name)
            self.seen = [type(self).__name__]
        @hybrid_property
        def loud(self): return self.name + "!"
    value = User, User("x")
    >>> (
    ...     value[1].loud, value[0]('y').seen, str(value[0].key),
    ...     'name ||' in str(value[0].loud == 'a'),
    ... )
    "x!", ["User"], "User.key", True

a mixin and an abstract class arrive
    from sqlalchemy.orm import DeclarativeBase, Mapped, declared_attr, mapped_column
    class Base(DeclarativeBase): pass
    class Named:
        name: Mapped[str] = mapped_column(default="x")
        @declared_attr.directive
        def __tablename__(cls): return cls.__name__.lower()
    class Kept(Base):
        __abstract__ = True
        id: Mapped[int] = mapped_column(primary_key=True)
    class Thing(Named, Kept): pass
    value = Thing
    >>> (
    ...     value(name='y').name, str(value.__table__.name) + '',
    ...     sorted(map(str, value.__table__.c.keys())),
    ... )
    "y", "thing", ["id", "name"]
"""


@pytest.mark.parametrize("script, expression, expected", read_claims(ALONE))
def test_it_works(script, expression, expected):
    assert send(script, expression) == expected


def test_a_class_that_inherits_is_stored_as_what_it_is():
    script = """
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
class Base(DeclarativeBase): pass
class Animal(Base):
    __tablename__ = "animal"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    __mapper_args__ = {"polymorphic_on": "kind", "polymorphic_identity": "animal"}
class Dog(Animal):
    __tablename__ = "dog"
    id: Mapped[int] = mapped_column(ForeignKey("animal.id"), primary_key=True)
    tricks: Mapped[int]
    __mapper_args__ = {"polymorphic_identity": "dog"}
def stored(animal):
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(animal)
        session.commit()
        found = session.scalars(select(Animal)).one()
        return type(found).__name__, found.kind, found.tricks
value = stored, Dog, Dog(tricks=2)
"""

    assert send(script, "value[0](value[2])") == ("Dog", "dog", 2)
    assert send(script, "value[0](value[1](tricks=3))") == ("Dog", "dog", 3)
