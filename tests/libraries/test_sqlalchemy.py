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


def test_an_instance_can_be_stored_there():
    script = MODELS + "value = User(name='x', posts=[Post(), Post()]), stored"

    expression = "value[0].shout(), len(value[0].posts), value[0].posts[1].user is value[0]"
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


