"""The command solvers discover."""

from __future__ import annotations

import json

import pytest

from solvers.discovery.comparing import NewName
from tests.stored import Command


def test_new_names_are_lines_or_a_document(exhume: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    new = [NewName("operator", "frob", ("(frob Int Bool)",) * 5), NewName("tactic", "twist")]
    monkeypatch.setattr("exhume.commands.solvers.discover", lambda solver, progress: new)
    done = exhume("solvers", "discover", "z3")
    assert done.code == 0
    assert done.out.splitlines() == [
        "operator    frob  (frob Int Bool); (frob Int Bool); (frob Int Bool); 2 more",
        "tactic      twist",
        "z3: 2 unknown names",
    ]
    done = exhume("solvers", "discover", "z3", "--json")
    assert json.loads(done.out)[1] == {"kind": "tactic", "name": "twist", "guess": []}
    del new[0]
    assert exhume("solvers", "discover", "z3").out.splitlines()[-1] == "z3: 1 unknown name"


def test_a_solver_without_scripts_names_its_options(exhume: Command) -> None:
    done = exhume("solvers", "discover", "oxiz", "--json")
    assert (done.code, json.loads(done.out)) == (0, [])


def test_a_command_line_cannot_be_asked(exhume: Command) -> None:
    done = exhume("solvers", "discover", "mine=cat")
    assert done.code == 2
    assert done.err.startswith("exhume: solver 'mine=cat': only solvers known by name can be asked: z3, ")
