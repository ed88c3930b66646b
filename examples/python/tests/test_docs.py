"""The examples in the documentation."""

from __future__ import annotations

import doctest
import importlib.metadata
import inspect
import os
import pathlib
import types

import pytest

import lttv

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("polars", "pandas", "pyarrow", "duckdb"):
        pytest.importorskip(library)
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("page", ["docs/user/python.md", "docs/user/python-notebook.md", "examples/python/README.md"])
def test_pages(page: str) -> None:
    text = (ROOT / page).read_text()
    parser = doctest.DocTestParser()
    test = parser.get_doctest(text, {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.summarize().failed == 0
    assert test.examples


def documented() -> list[tuple[str, str]]:
    """The names and texts of all that the package has."""
    found = [("lttv", lttv.__doc__ or "")]
    for name in lttv.__all__:
        item = getattr(lttv, name)
        found.append((name, inspect.getdoc(item) or ""))
        if inspect.isclass(item):
            for key, member in vars(item).items():
                is_attribute = inspect.isgetsetdescriptor(member) or inspect.ismemberdescriptor(member)
                is_own = isinstance(member, (types.FunctionType, property)) or inspect.isroutine(member)
                if not key.startswith("_") and (is_own or is_attribute):
                    found.append((f"{name}.{key}", inspect.getdoc(member) or ""))
    return found


@pytest.mark.parametrize("name, text", documented())
def test_docstrings(name: str, text: str) -> None:
    assert text, f"{name} has no documentation"
    test = doctest.DocTestParser().get_doctest(text, {"lttv": lttv}, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    assert runner.summarize().failed == 0


def test_the_licences_are_in_the_package() -> None:
    files = {path.name for path in importlib.metadata.files("lttv") or []}
    assert {"LICENSE-APACHE", "LICENSE-MIT"} <= files


def test_the_scripts_print_what_those_of_bt2_print(bt2: str, traces: pathlib.Path) -> None:
    import subprocess
    import sys

    if not os.environ.get("LTTV_TEST_ALL"):
        pytest.skip("the scripts are NOT compared with those of bt2 without --all")
    script = ROOT / "examples/python/scripts/compare.py"
    words = [sys.executable, str(script), str(traces / "kernel"), bt2]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
