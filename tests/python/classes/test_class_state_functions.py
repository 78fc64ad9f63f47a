"""Functions in classes, and what holds them: who changed, which arrival, which worker.

Methods are always those of the payload that came last, with its globals, unless the
worker has put another object there, which stays until the sender changes the method.
"""

import pytest
from class_state_matrix import Row, by_who, check, every_who, every_worker, whole
from class_stories import Story

#: How a function gets into the class, and how it is called.
KINDS = {
    "function": ("K.x = {}", "K().x()"),
    "classmethod": ("K.x = classmethod({})", "K.x()"),
    "staticmethod": ("K.x = staticmethod({})", "K.x(None)"),
    "property": ("K.x = property({})", "K().x"),
    "setter": ("K.x = property(None, lambda self, v: 0).getter({})", "K().x"),
    "cached property": (
        "K.x = functools.cached_property({}); K.x.__set_name__(K, 'x')",
        "K().x",
    ),
    "partial method": ("K.x = functools.partialmethod({})", "K().x()"),
    "abstract method": ("K.x = abc.abstractmethod({})", "K().x()"),
    "wrapped": ("K.x = functools.wraps(len)({})", "K().x()"),
}
#: Objects that hold functions: how they get into the class, how they are called.
HOLDERS = {
    "lru_cache": ("K.x = staticmethod(functools.lru_cache({}))", "K.x(0)"),
    "lru_cache, bare": ("K.x = functools.lru_cache({})", "K.x(0)"),
    "list": ("K.x = [{}]", "K.x[0](0)"),
    "tuple": ("K.x = ({},)", "K.x[0](0)"),
    "dict": ("K.x = {{'f': {}}}", "K.x['f'](0)"),
    "dict in a list": ("K.x = [{{'f': {}}}]", "K.x[0]['f'](0)"),
    "partial": ("K.x = functools.partial({}, 0)", "K.x()"),
    "bound method": ("K.x = types.MethodType({}, 1)", "K.x()"),
    "instance": ("K.x = types.SimpleNamespace(f={})", "K.x.f(0)"),
}
ALL = KINDS | HOLDERS


@pytest.mark.parametrize("kind", ALL)
@every_who
@every_worker
def test_a_function_that_is_replaced_is_the_last_to_be_put_there(
    stage, kind, who, worker
):
    put, read = ALL[kind]
    row = Row(
        define="class K: pass\n" + put.format("lambda self: 1"),
        sender=put.format("lambda self: 2"),
        worker=put.format("lambda self: 3"),
        undo=put.format("lambda self: 1"),
        read=read,
        expected=whole(1, 2, 3),
    )

    check(stage, row, who, worker)


#: How a function reaches X: what is defined before K, the function, and how X is set.
REACHES = {
    "global": ("", "lambda self: X", "X = {}"),
    "helper": ("def helper(): return X", "lambda self: helper()", "X = {}"),
    "nested function": ("", "lambda self: [X for _ in '1'][0]", "X = {}"),
    "list": ("LIST = [X]", "lambda self: LIST[0]", "LIST = [{}]"),
    "class": ("class Other: pass\nOther.X = X", "lambda self: Other.X", "Other.X = {}"),
}
PAIRS = [(kind, "global") for kind in ALL]
PAIRS += [(kind, reach) for kind in ("function", "list") for reach in REACHES][1:]
#: The worker has put another object there, which says 3. Of a method that is the
#: attribute; what the method reaches is another matter.
STAYS = by_who(
    1, nobody=(1, 3), sender=(2, 3), worker=(3, 3), same=(2, 1), different=(3, 3)
)


@pytest.mark.parametrize("kind, reach", PAIRS)
@every_who
@every_worker
def test_what_a_function_reaches_arrives(stage, kind, reach, who, worker):
    put, read = ALL[kind]
    before, function, change = REACHES[reach]
    # A class that is reached has its state for itself.
    is_part = kind in HOLDERS and reach != "class"
    row = Row(
        define=f"X = 1\n{before}\nclass K: pass\n" + put.format(function),
        sender=change.format(2),
        worker=put.format("lambda self: 3"),
        undo=change.format(1),
        read=read,
        # At the worker the sender's statement sets a global that nobody reads.
        expected=whole(1, 2, 3) if is_part else STAYS,
    )
    if reach == "class" and who == "both, the same":
        pytest.skip("the worker has no such name")

    check(stage, row, who, worker)


#: What the worker changes in a method's globals is nobody's state: each payload brings
#: its own.
GLOBALS_THERE = by_who(
    1, nobody=(1, 1), sender=(2, 2), worker=(1, 2), same=(2, 1), different=(2, 1)
)
OF_FUNCTION = {
    "function": "K.x",
    "classmethod": "vars(K)['x'].__func__",
    "staticmethod": "K.x",
    "property": "K.x.fget",
    "cached property": "vars(K)['x'].func",
    "partial method": "vars(K)['x'].func",
}


@pytest.mark.parametrize("kind", OF_FUNCTION)
@every_who
@every_worker
def test_globals_of_methods_are_the_payloads(stage, kind, who, worker):
    put, read = KINDS[kind]
    row = Row(
        define="X = 1\nclass K: pass\n" + put.format("lambda self: X"),
        sender="X = 2",
        worker=f"{OF_FUNCTION[kind]}.__globals__['X'] = 3",
        undo="X = 1",
        read=read,
        expected=GLOBALS_THERE,
    )

    check(stage, row, who, worker)


#: (results kept, what a call gives); reading is a call with the argument 5.
CACHED = Row(
    define="""
FACTOR = 2
class K:
    @staticmethod
    @functools.lru_cache
    def x(n): return n * FACTOR
""",
    sender="FACTOR = 3",
    worker="K.x(6)",
    undo="FACTOR = 2",
    read="(K.x.cache_info().currsize, K.x(5))",
    expected=by_who(
        (0, 10),
        nobody=((1, 10), (2, 10)),
        sender=((0, 15), (2, 15)),
        worker=((2, 10), (0, 15)),
        same=((0, 15), (0, 10)),
        different=((0, 15), (0, 10)),
    ),
)


@every_who
@every_worker
def test_what_a_cached_function_keeps_stays_until_it_changes(stage, who, worker):
    check(stage, CACHED, who, worker)


# ---- Tests of their own


COUNTING = {
    "list": ("K.x = [count]", "K.x[0]()"),
    "dict": ("K.x = {'f': count}", "K.x['f']()"),
    "instance": ("K.x = types.SimpleNamespace(f=count)", "K.x.f()"),
    "partial": ("K.x = functools.partial(count)", "K.x()"),
}


@pytest.mark.parametrize("kind", COUNTING)
def test_what_is_left_keeps_the_globals_that_it_came_with(pair, kind):
    home, worker = pair
    put, call = COUNTING[kind]
    home.do(f"""N = 0
def count():
    global N
    N += 1
    return N
class K: pass
{put}""")
    worker.load(home.dumps("{'K': K}"))
    assert worker.get(f"[{call}, {call}]") == [1, 2]

    worker.load(home.dumps("{'K': K}"))

    assert worker.get(call) == 3


STORIES = {
    "a function elsewhere is the payload's, whatever the worker put there": Story(
        define="class K:\n    def run(self): return 'sent'\nrun = K.run",
        sent="{'K': K, 'run': run}",
        worker="K.run = lambda self: 'put there'",
        read="run(0), K().run()",
        expected=("sent", "put there"),
    ),
    "a method that the sender has deleted is gone": Story(
        define="""
        class Base:
            def run(self): return 'of the base'
        class K(Base):
            def run(self): return 'own'
        """,
        home="del K.run",
        read="K().run()",
        expected="of the base",
    ),
    "a method of the worker's own stays": Story(
        define="class K: pass",
        worker="K.run = lambda self: 'own'",
        read="K().run()",
        expected="own",
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_method_is_what_both_sides_have_made_of_it(pair, story):
    story.demand(*pair)


DEFAULTS = {
    "default": "K.run.__defaults__ = ({},)",
    "keyword default": "K.run.__kwdefaults__ = dict(b={})",
    "attribute": "K.run.note = {}",
    "closure": "K.run.__closure__[0].cell_contents = {}",
}


@pytest.mark.parametrize("part", DEFAULTS)
def test_parts_of_a_method_that_the_sender_has_changed_arrive(pair, part):
    define = """
    def make():
        c = 0
        def run(self, a=0, *, b=0): return a, b, c, run.note
        run.note = 0
        return run
    class K: run = make()
    """
    change = DEFAULTS[part].format(7)

    Story(define, home=change, read="sum(K().run())", expected=7).demand(*pair)
