"""SRI-CSL/yices2: no template; its maintainers want all that ``yices-smt2 --version`` says."""

from solvers.report_form import Form, Titles

FORM = Form(
    family="yices",
    tracker="SRI-CSL/yices2",
    titles=Titles(
        soundness="Soundness bug in {logic}",
        wrong_sat="Incorrect sat in {logic}",
        wrong_unsat="Incorrect unsat in {logic}",
        invalid_model="Incorrect model in {logic}",
        crash="Crash at {place}",
        death="{signal} in {logic}",
        incompleteness="Regression: unknown in {logic}",
        slowdown="Performance regression in {logic}",
    ),
    reminder="For SRI-CSL/yices2. Look whether the issues named below are the same fault, and whether the"
    " newest release still has it, before you send it.",
)
