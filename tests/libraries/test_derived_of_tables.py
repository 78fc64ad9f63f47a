"""Tables and mapped classes of SQLAlchemy have one key in each process.

Tests python_ext/waybill/_kinds/schema_items.py and _classes/declarative.py.
"""

import marshal

import fresh_process
import pytest
from main_script import demand_keys_of_any_process, payload_of, send

pytest.importorskip("sqlalchemy", minversion="2")

IMPORTS = """
from typing import Optional
from sqlalchemy import *
from sqlalchemy.orm import *
"""
MODELS = """
def default(): return "x"
def make():
    class Base(DeclarativeBase): pass
    class User(Base):
        __tablename__ = "user"
        id: Mapped[int] = mapped_column(primary_key=True)
        name: Mapped[str] = mapped_column(String(30), default=default)
        nick: Mapped[Optional[str]]
        posts = relationship(
            "Post", back_populates="user", foreign_keys="Post.user_id")
    class Post(Base):
        __tablename__ = "post"
        id: Mapped[int] = mapped_column(primary_key=True)
        user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
        editor_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
        user = relationship(User, back_populates="posts", foreign_keys=[user_id])
        __table_args__ = (UniqueConstraint("user_id"), CheckConstraint("id > 1"),
                          CheckConstraint("id > 2"), Index("by_editor", "editor_id"))
    class DataBase(MappedAsDataclass, DeclarativeBase): pass
    class Data(DataBase):
        __tablename__ = "data"
        id: Mapped[int] = mapped_column(primary_key=True, init=False)
        name: Mapped[str] = mapped_column("label", default="x")
    class Mixin:
        made: Mapped[int] = mapped_column()
        by: Mapped[int] = mapped_column()
    class Mixed(Mixin, Base):
        __tablename__ = "mixed"
        id: Mapped[int] = mapped_column(primary_key=True)
    OldBase = declarative_base()
    class Old(OldBase):
        __tablename__ = "old"
        id = Column(Integer, primary_key=True)
    table = Table("plain", MetaData(), Column("id", Integer, primary_key=True),
                  Column("a", ForeignKey("b.id")), Column("b", ForeignKey("b.id")),
                  Column("c", Integer, default=default, onupdate=lambda: 2),
                  UniqueConstraint("a"), UniqueConstraint("b", "c"))
    def task(): return User(name="x").name
    def query(): return str(select(table.c.a).where(table.c.b == 1))
    return (User, Post, Data, Mixed, Mixin, Old, table, task, query,
            User(name="a"), Data())
"""
USE = """
def use():
    made[7](), made[8](), str(select(made[0]).join(made[1], made[0].posts))
    engine = create_engine("sqlite://")
    made[0].metadata.create_all(engine)
    with Session(engine) as session:
        session.add(made[0](name="x"))
        session.commit()
        session.scalars(select(made[0])).one().posts
"""
PLAIN = """
def make():
    plain, data, by_hand = registry(), registry(), registry()
    @plain.mapped
    class Plain:
        __tablename__ = "plain"
        id: Mapped[int] = mapped_column(primary_key=True)
        text: Mapped[str]
        parent_id: Mapped[Optional[int]] = mapped_column(ForeignKey("plain.id"))
        children = relationship("Plain")
        def loud(self): return self.text.upper()
    @data.mapped_as_dataclass
    class Data:
        __tablename__ = "data"
        id: Mapped[int] = mapped_column(primary_key=True, init=False)
        name: Mapped[str] = mapped_column("label", default="x")
    class ByHand:
        def __init__(self, size): self.size = size
    table = Table("by_hand", by_hand.metadata,
                  Column("id", Integer, primary_key=True), Column("size", Integer))
    by_hand.map_imperatively(ByHand, table)
    class Animal:
        pass
    class Dog(Animal):
        pass
    animals, dogs = registry(), None
    animal = Table("animal", animals.metadata, Column("id", Integer, primary_key=True),
                   Column("kind", String))
    animals.map_imperatively(
        Animal, animal, polymorphic_on=animal.c.kind, polymorphic_identity="animal")
    animals.map_imperatively(Dog, inherits=Animal, polymorphic_identity="dog")
    return Plain, Data, ByHand, Dog, Plain(text="a"), Data("b"), ByHand(3)
def stored(made, name):
    cls = type(made)
    engine = create_engine("sqlite://")
    class_mapper(cls).local_table.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(made)
        session.commit()
        return getattr(session.scalars(select(cls)).one(), name)
"""
USE_PLAIN = """
def use(): stored(made[0](text="x"), "text"), stored(made[1](), "name")
"""
SCRIPTS = {"declarative": MODELS + USE, "plain": PLAIN + USE_PLAIN}


@pytest.mark.parametrize("kind", SCRIPTS)
def test_keys_are_those_of_any_process_before_and_after_use(kind):
    imports = "import decimal, json, sqlalchemy.orm"

    script = IMPORTS + SCRIPTS[kind] + "made = make()\n"
    demand_keys_of_any_process(script, imports, changing=2)


@pytest.mark.parametrize(
    ("sent", "expression", "answer"),
    [
        ("make()[0], stored", "value[1](value[0](text='q'), 'text')", "q"),
        ("make()[0]", "value(text='q', children=[value()]).loud()", "Q"),
        ("make()[1], stored", "value[1](value[0](), 'name')", "x"),
        ("make()[1]", "value('q').name, repr(value('q'))[-24:]", None),
        ("make()[2], stored", "value[1](value[0](4), 'size')", 4),
        ("make()[3], stored", "value[1](value[0](), 'kind')", "dog"),
        ("make()[4], stored", "value[1](value[0], 'text')", "a"),
        ("make()[5], stored", "value[1](value[0], 'name')", "b"),
        ("make()[6], stored", "value[1](value[0], 'size')", 3),
    ],
)
def test_a_class_that_is_mapped_by_a_registry_maps_there(sent, expression, answer):
    arrived = send(f"{IMPORTS}{PLAIN}\nvalue = {sent}", expression)

    assert answer is None or arrived == answer


def test_a_mapped_dataclass_maps_there():
    script = f"{IMPORTS}{MODELS}\nvalue = make()[2]"

    expression = """(
        value('q').name, value().name, str(value.name),
        list(map(str, value.__table__.c)),
    )"""
    expected = ("q", "x", "Data.name", ["data.id", "data.label"])
    assert send(script, expression) == expected


def test_constraints_keep_their_order():
    script = f"{IMPORTS}{MODELS}\nvalue = make()[6]"
    expression = "[type(c).__name__[:1] for c in value._sorted_constraints]"
    at_home = fresh_process.run_script(f"{script}\nprint({expression})")

    assert f"{send(script, expression)}\n" == at_home


@pytest.mark.parametrize(
    "options", ["", ", class_state='sender'", ", reset_classes=True"]
)
@pytest.mark.parametrize(
    ("script", "number", "arguments"),
    [
        (MODELS, 0, "name='q'"),
        (MODELS, 2, "name='q'"),
        (PLAIN, 0, "text='q'"),
        (PLAIN, 1, "name='q'"),
        (PLAIN, 2, "size=3"),
    ],
)
def test_a_worker_knows_the_class_of_a_script_that_runs_again(
    script, number, arguments, options
):
    script = f"{IMPORTS}{script}\nvalue = make()[{number}]"
    again = f"{script}\nimport waybill\nwaybill.dumps(value)\nvalue.shown = 1"
    program = f"""
import marshal
first, second, third = marshal.loads(data)
cls = waybill.loads(first)
cls.counter = 7
one = cls({arguments})
others = [waybill.loads(item{options}) for item in (second, third)]
made = cls({arguments})
answer = (
    [other is cls for other in others], getattr(cls, "counter", None), cls.shown,
    type(made) is type(one), sorted(vars(made)) == sorted(vars(one)),
)
"""
    payloads = [payload_of(script), payload_of(script), payload_of(again)]

    answer = fresh_process.execute(program, marshal.dumps(payloads))

    kept = None if "sender" in options else 7
    assert answer == ([True, True], kept, 1, True, True)
