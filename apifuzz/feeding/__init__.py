"""Terms of a corpus, or of generated tests, as calls: bug history for API fuzzing.

A term is made by the ordinary calls (sorts, datatypes, constants, values, terms, binders), so that a trace
stands alone. It is fed as it is; or as one of its atoms or other parts; or as its skeleton, whose atoms are
formulas that the run has. A constant of it is now and then something of its sort that the run has.
"""
