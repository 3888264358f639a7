import sys

import bitwuzla

*arguments, file = sys.argv[1:]
options = bitwuzla.Options()
if arguments:
    options.set_args(*arguments)
bitwuzla.Parser(bitwuzla.TermManager(), options).parse(file)
