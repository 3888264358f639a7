"""cvc5 1.4.2: mkInteger refuses integers from 2**31 on, and takes them as strings."""

import cvc5

manager = cvc5.TermManager()
print(manager.mkInteger(str(2**31)))
try:
    print(manager.mkInteger(2**31))
except OverflowError as error:
    print("OverflowError:", error)
