"""cvc5 1.4.2: a plugin is never freed, and with it its term manager."""

import gc

import cvc5

freed = []


class Listener(cvc5.Plugin):
    def check(self):
        return []

    def getName(self):
        return "listener"

    def __del__(self):
        freed.append(self.getName())


listener = Listener(cvc5.TermManager())
del listener
gc.collect()
print("freed" if freed else "never freed")
