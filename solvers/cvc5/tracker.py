"""cvc5/cvc5: the fields of its template, and what its maintainers ask of those who fuzz."""

from solvers.report_form import Form, Piece, Titles

FORM = Form(
    family="cvc5",
    tracker="cvc5/cvc5",
    titles=Titles(
        soundness="Unsoundness on {logic}",
        wrong_sat="Solution unsoundness on {logic}",
        wrong_unsat="Refutation unsoundness on {logic}",
        invalid_model="Invalid model on {logic}",
        crash="Fatal failure at {place}",
        death="{signal} on {logic}",
        incompleteness="Regression: unknown on {logic}",
        slowdown="Performance regression on {logic}",
        options="({options}) ",
        options_first=True,
    ),
    sections=(
        (
            "Describe the bug",
            (Piece.DESCRIPTION, Piece.FORMULA, Piece.PRINTED),
        ),
        ("Expected behavior", (Piece.EXPECTED, Piece.BESIDE)),
        ("Command line arguments", (Piece.COMMAND,)),
        ("cvc5 version/commit", (Piece.VERSION,)),
        ("Operating system", (Piece.PLATFORM,)),
        ("`configure.sh` options", (Piece.INSTALLATION,)),
        ("Options that it takes", (Piece.OPTIONS, Piece.SAFE_MODE)),
        ("Affected releases", (Piece.RELEASES,)),
        ("Related issues", (Piece.RESEMBLES,)),
        ("How it was found", (Piece.ORIGIN,)),
    ),
    heading="**{}**",
    reminder="For cvc5/cvc5. Its maintainers want formulas minimised, and from people who fuzz at most three"
    " reports a week and none that needs experimental options (wiki: Fuzzing-cvc5). Look whether the issues"
    " named below are the same fault before you send it.",
)
