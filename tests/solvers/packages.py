"""Packages that pip takes from a folder in place of an index: wheels, and source packages of z3 0.9.0."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

# pip asks a source package for its metadata; this one needs nothing from the network to answer.
_BACKEND = """
def prepare_metadata_for_build_wheel(folder, settings=None):
    import pathlib
    made = pathlib.Path(folder, "z3_solver-0.9.0.dist-info"); made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\\nName: z3-solver\\nVersion: 0.9.0\\n")
    (made / "WHEEL").write_text("Wheel-Version: 1.0\\n")
    return made.name
def build_wheel(folder, settings=None, metadata=None): raise SystemExit("not needed")
"""
_PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def make_wheel(folder: Path, version: str, files: Mapping[str, str], name: str = "z3_solver") -> Path:
    """A wheel with ``files`` beside its metadata."""
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**metadata, **files}.items():
            archive.writestr(path, text)
    return wheel


def make_source_package(folder: Path, files: Mapping[str, str]) -> Path:
    """The source package of z3 0.9.0 with ``files`` beside its metadata."""
    package = folder / "z3-solver-0.9.0.tar.gz"
    metadata = {
        "PKG-INFO": "Metadata-Version: 2.1\nName: z3-solver\nVersion: 0.9.0\n",
        "backend.py": _BACKEND,
        "pyproject.toml": _PYPROJECT,
    }
    with tarfile.open(package, "w:gz") as archive:
        for name, text in {**metadata, **files}.items():
            member = tarfile.TarInfo(f"z3-solver-0.9.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return package
