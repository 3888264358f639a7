"""No tracker in particular: solvers that the user gave as command lines, and disagreements of which nobody
knows who is wrong.
"""

from difftest.trackers.form import Form, Titles

PLAIN = Form(
    family="other",
    tracker="",
    titles=Titles(
        soundness="{solver}: soundness issue on {logic}",
        wrong_sat="{solver}: wrong sat on {logic}",
        wrong_unsat="{solver}: wrong unsat on {logic}",
        invalid_model="{solver}: invalid model on {logic}",
        crash="{solver}: crash at {place}",
        death="{solver}: {signal} on {logic}",
        incompleteness="{solver}: unknown on {logic}",
        slowdown="{solver}: slow on {logic}",
    ),
)
