"""Small programs of functions, classes and lists that refer to each other at random."""

import types

KINDS = {
    "function": "def {name}(*a): return [{names}]",
    "closure": "def outer(x):\n def {name}(*a): return [x, {names}]\n return {name}\n"
    "{name} = outer([{module}])\ndel outer",
    "function with an attribute": "def {name}(*a, k=None): return [{name}, {names}]\n"
    "{name}.mark = [{module}]",
    "class": "class {name}:\n kept = [1]\n def m(self): return [{names}]\n"
    " @classmethod\n def k(cls): return {other}\n @staticmethod\n def s(): {name}",
    "instance": "class T{name}:\n def __init__(s): s.x = [{module}]\n"
    " def m(s): return [{names}]\n{name} = T{name}()",
    "list": "{name} = [{module}]",
}


class Program:
    """Modules as dicts; `places` are the names of their objects."""

    def __init__(self, scopes, places):
        self.scopes, self.places = scopes, places

    def pick(self, chance):
        module, name = chance.choice(self.places)
        return self.scopes[module][name]

    def change(self, chance):
        """Changes an object, or gives its name another one."""
        module, name = chance.choice(self.places)
        if chance.random() < 0.5:
            self.scopes[module][name] = self.pick(chance)
        else:
            self.touch(self.scopes[module][name], chance)

    def touch(self, obj, chance):
        """Has an object refer to another one."""
        other = self.pick(chance)
        if isinstance(obj, list):
            obj.append(other)
        elif isinstance(obj, types.FunctionType) and obj.__closure__:
            obj.__closure__[0].cell_contents = other
        elif isinstance(obj, types.FunctionType):
            obj.__defaults__ = (other,)
        elif isinstance(obj, type):
            obj.extra = other
        else:
            obj.x = other


def program(chance):
    scopes, places = [], []
    for module in range(chance.randint(1, 4)):
        scope = {"__name__": chance.choice(["nowhere", "nowhere", "elsewhere"])}
        own = [f"n{number}" for number in range(chance.randint(1, 6))]
        for name in own:
            names = [chance.choice([*own, "shared", "foreign"]) for _ in range(3)]
            facts = {
                "name": name,
                "names": ", ".join(names[: chance.randint(0, 3)]),
                "other": chance.choice(own),
                "module": module,
            }
            kind = chance.choice([*KINDS, "function", "function", "class"])
            exec(KINDS[kind].format(**facts), scope)
        is_first = not scopes or chance.random() < 0.5
        scope["shared"] = {"k": module} if is_first else scopes[0]["shared"]
        scopes.append(scope)
        places += [(module, name) for name in own]
    made = Program(scopes, places)
    for module, name in places:
        scopes[module]["foreign"] = made.pick(chance)
        if chance.random() < 0.3:
            made.touch(scopes[module][name], chance)
    return made


def root_of(made, chance):
    """Something to send: objects of the program, instances and methods."""
    root = []
    for _ in range(chance.randint(1, 4)):
        obj = made.pick(chance)
        if isinstance(obj, type) and chance.random() < 0.5:
            instance = obj()
            obj = chance.choice([instance, getattr(instance, "m", obj)])
        root.append(obj)
    if chance.random() < 0.3:
        root.append(made.scopes[0]["shared"])
    return root
