"""bitwuzla 0.9.1, Python: Options.shrt of an option without a short name ends in a segmentation fault."""

from bitwuzla import Option, OptionInfo, Options

print(OptionInfo(Options(), Option.PRODUCE_UNSAT_CORES).shrt(), flush=True)
print(Options().shrt(Option.PRODUCE_UNSAT_CORES))
