"""bitwuzla through its Python interface."""
