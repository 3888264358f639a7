"""bitwuzla 0.9.1: a floating-point value of a rational with denominator 0 raises SIGFPE."""

from bitwuzla import RoundingMode, TermManager

manager = TermManager()
mode = manager.mk_rm_value(RoundingMode.RNE)
print(manager.mk_fp_value(manager.mk_fp_sort(5, 11), mode, "1", "0"))
