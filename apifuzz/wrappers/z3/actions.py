ACTIONS=()
def adjust(model): pass
