"""Files of packages by value: they do not travel, and whoever asks for them is told."""

import fresh_process
import pytest
from sources import write_files

FILES = {
    "pd_package/__init__.py": """
        import importlib.resources, pkgutil
        def own_name(): return pkgutil.get_data(__name__, "data.txt")
        def own_package(): return importlib.resources.files(__package__)
        """,
    "pd_package/data.txt": "content",
    "pd_package/inner/__init__.py": "",
    "pd_package/inner/data.txt": "content",
    "pd_package/inner/work.py": """
        import importlib.resources, pkgutil
        import pd_package.inner
        def get_data(): return pkgutil.get_data("pd_package", "data.txt")
        def get_data_here(): return pkgutil.get_data(__package__, "data.txt")
        def get_data_inside():
            def inner(): return pkgutil.get_data("pd_package.inner", "data.txt")
            return inner()
        def get_data_after_an_import():
            import pd_package
            return pkgutil.get_data("pd_package", "data.txt")
        def files(): return importlib.resources.files("pd_package")
        def files_here(): return importlib.resources.files(__package__)
        def files_of_the_module(): return importlib.resources.files(pd_package)
        def read_text():
            data = importlib.resources.files("pd_package.inner") / "data.txt"
            return data.read_text()
        def name(): return "pd_package", __package__, "pd_package.absent"
        """,
}
WORK = [
    *("get_data", "get_data_here", "get_data_inside", "get_data_after_an_import"),
    *("files", "files_here", "files_of_the_module", "read_text"),
]


@pytest.fixture
def payload_of(tmp_path):
    write_files(tmp_path, FILES)

    def payload_of(what, by_value="pd_package"):
        program = f"""
import pd_package
from pd_package.inner import work
answer = waybill.dumps({what}, by_value={by_value})
"""
        return fresh_process.execute(program, path=[tmp_path])

    return payload_of


@pytest.mark.parametrize(
    "what",
    [
        *(f"work.{name}" for name in WORK),
        "pd_package.own_name",
        "pd_package.own_package",
        "[pd_package, pd_package.own_name, pd_package.own_package][1]",
    ],
)
def test_who_asks_for_files_that_did_not_travel_is_told(payload_of, what):
    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.load(payload_of(what), "value()")

    assert caught.value.kind == "FileNotFoundError"
    assert "was not sent: the package was sent by value" in str(caught.value)
    assert "pd_package" in str(caught.value)


def test_who_asks_for_files_of_a_module_that_came_whole_is_told(payload_of):
    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.load(
            payload_of("pd_package"),
            "__import__('importlib.resources').resources.files(value)",
        )

    assert caught.value.kind == "FileNotFoundError"


def test_files_of_an_installed_package_are_found(payload_of, tmp_path):
    data = payload_of("work.get_data")

    found = fresh_process.load(data, "value()", path=[tmp_path])

    assert found == b"content"


def test_names_of_packages_alone_are_text_as_ever(payload_of):
    expected = ("pd_package", "pd_package.inner", "pd_package.absent")

    assert fresh_process.load(payload_of("work.name"), "value()") == expected


def test_by_value_of_another_package_brings_none(payload_of):
    smaller = payload_of("lambda: 'pd_package'", "'encodings'")

    assert payload_of("lambda: 'pd_package'", "'waybill'") == smaller
