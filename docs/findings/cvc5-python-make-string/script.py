"""cvc5 1.4.2: mkString refuses characters beyond ASCII if it is called with the flag for escapes."""

import cvc5

manager = cvc5.TermManager()
print(manager.mkString("\u00e9"))
try:
    print(manager.mkString("\u00e9", False))
except (RuntimeError, ValueError):
    print("refused")
