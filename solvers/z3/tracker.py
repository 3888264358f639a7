"""Z3Prover/z3: the fields of its bug report form, in its order and under its names."""

from solvers.report_form import Form, Piece, Titles

FORM = Form(
    family="z3",
    tracker="Z3Prover/z3",
    titles=Titles(
        soundness="Soundness issue on {logic}",
        wrong_sat="Solution soundness issue on {logic}",
        wrong_unsat="Refutational soundness issue on {logic}",
        invalid_model="Invalid model issue on {logic}",
        crash="Assertion violation at {place}",
        death="{signal} on {logic}",
        incompleteness="Regression: unknown on {logic}",
        slowdown="Performance regression on {logic}",
    ),
    sections=(
        ("Bug Category", (Piece.CATEGORY,)),
        ("Bug Description", (Piece.DESCRIPTION,)),
        ("Minimal Reproduction", (Piece.FORMULA,)),
        ("Expected Behavior", (Piece.EXPECTED, Piece.BESIDE)),
        ("Actual Behavior", (Piece.PRINTED,)),
        ("Z3 Version", (Piece.VERSION,)),
        ("Platform", (Piece.PLATFORM,)),
        ("Interface Used", (Piece.COMMAND,)),
        ("Installation Method", (Piece.INSTALLATION,)),
        ("Additional Context", (Piece.OPTIONS, Piece.RESEMBLES, Piece.ORIGIN)),
        ("Regression Check", (Piece.RELEASES,)),
    ),
    heading="### {}",
    categories={
        "crash": "Crash/Assertion failure",
        "soundness": "Incorrect result (SAT/UNSAT/Unknown)",
        "invalid-model": "Incorrect result (SAT/UNSAT/Unknown)",
        "incompleteness": "Incorrect result (SAT/UNSAT/Unknown)",
        "slowdown": "Performance regression",
    },
    reminder="For Z3Prover/z3's form 'Bug Report': each section is one of its fields. Look whether the issues"
    " named below are the same fault, and whether the newest release still has it, before you send it.",
)
