"""bitwuzla/bitwuzla: no template; the order is that of the reports that its maintainers answered."""

from solvers.report_form import Form, Titles

FORM = Form(
    family="bitwuzla",
    tracker="bitwuzla/bitwuzla",
    titles=Titles(
        soundness="Soundness issue on {logic}",
        wrong_sat="Soundness issue (wrong sat) on {logic}",
        wrong_unsat="Soundness issue (wrong unsat) on {logic}",
        invalid_model="Invalid model issue on {logic}",
        crash="Assertion violation at {place}",
        death="{signal} on {logic}",
        incompleteness="Regression: unknown on {logic}",
        slowdown="Performance regression on {logic}",
    ),
    reminder="For bitwuzla/bitwuzla. Look whether the issues named below are the same fault, and whether the"
    " newest release still has it, before you send it.",
)
