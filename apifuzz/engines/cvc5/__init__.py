"""cvc5 behind the interface, through the base interface of its Python module."""
