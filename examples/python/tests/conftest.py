"""The traces and programs that tests use."""

from __future__ import annotations

import os
import pathlib
import shutil
import tarfile
import warnings

import pytest

import lttv

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRACES = ROOT / "examples" / "traces"
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def traces() -> pathlib.Path:
    """The traces of the repository."""
    return TRACES


@pytest.fixture(scope="session")
def kernel() -> lttv.Trace:
    """The kernel trace of the repository."""
    return lttv.open(TRACES / "kernel")


@pytest.fixture(scope="session")
def shared() -> pathlib.Path:
    """The collection of traces beside the repository."""
    if not (SHARED / "traces").is_dir():
        pytest.skip("no ../shared: its traces are NOT compared")
    return SHARED / "traces"


@pytest.fixture(scope="session")
def program() -> str:
    """The program `lttv`, which must find the same."""
    found = os.environ.get("LTTV") or shutil.which("lttv")
    if not found:
        pytest.skip("no program lttv (variable LTTV): its output is NOT compared")
    return found


@pytest.fixture(scope="session")
def bt2() -> str:
    """The interpreter that has bt2."""
    import subprocess

    for python in ("/usr/bin/python3", "python3"):
        found = shutil.which(python)
        if found and subprocess.run([found, "-c", "import bt2"], capture_output=True).returncode == 0:
            return found
    pytest.skip("no bt2: its values are NOT compared")


@pytest.fixture(autouse=True)
def _quiet() -> None:
    """Warnings about damage are what some tests look for, and others expect."""
    warnings.simplefilter("ignore", lttv.DamageWarning)
    warnings.simplefilter("ignore", lttv.LossWarning)
    warnings.simplefilter("ignore", lttv.TraceWarning)


@pytest.fixture(scope="session")
def large(shared: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A kernel recording of five million events, unpacked: the path in KBIG, or a temporary one."""
    if given := os.environ.get("KBIG"):
        return pathlib.Path(given)
    pytest.skip("no variable KBIG: speed is NOT measured")
