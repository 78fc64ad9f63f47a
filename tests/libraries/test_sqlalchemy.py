"""Declarative classes of SQLAlchemy that are defined in __main__ travel."""

import pytest
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


def test_a_class_maps_there():
    script = MODELS + "value = User, stored"

    assert send(script, "value[1](value[0](name='x'))") == "x"


def test_a_related_class_is_there_when_the_first_instance_is_made():
    script = MODELS + "value = User"

    expression = "(__import__('gc').collect(), list(value(name='x').posts))[1]"
    assert send(script, expression) == []


def test_an_instance_can_be_stored_there():
    script = MODELS + "value = User(name='x', posts=[Post(), Post()]), stored"

    expression = (
        "value[0].shout(), len(value[0].posts), value[0].posts[1].user is value[0]"
    )
    assert send(script, expression) == ("X", 2, True)
    assert send(script, "value[1](value[0])") == "x"


def test_an_instance_that_was_read_from_a_database_arrives():
    script = f"""{MODELS}
engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add(User(id=7, name="x"))
    session.commit()
    value = session.scalars(select(User)).one()
    value.name
"""

    assert send(script, "value.id, value.name, value.nick") == (7, "x", None)


def test_a_statement_arrives():
    script = MODELS + "value = select(User.name).where(User.id == 3)"

    assert send(script, "'WHERE \"user\".id = :id_1' in str(value)")


def test_tables_without_classes_arrive():
    script = """
from sqlalchemy import Column, Integer, MetaData, Table
table = Table("t", MetaData(), Column("id", Integer, primary_key=True), Column("n", Integer))
value = table
"""

    assert send(script, "[str(c.name) for c in value.columns]") == ["id", "n"]


def test_relationships_of_many_to_many_arrive():
    script = """
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
"""

    assert send(script, "[r.number for r in value.rights]") == [3]


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


def test_a_base_of_the_older_kind_and_a_constructor_arrive():
    script = """
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
"""

    expression = "(value[1].loud, value[0]('y').seen, str(value[0].key), 'name ||' in str(value[0].loud == 'a'))"
    assert send(script, expression) == ("x!", ["User"], "User.key", True)


def test_a_mixin_and_an_abstract_class_arrive():
    script = """
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
"""

    expression = "(value(name='y').name, str(value.__table__.name) + '', sorted(map(str, value.__table__.c.keys())))"
    assert send(script, expression) == ("y", "thing", ["id", "name"])
