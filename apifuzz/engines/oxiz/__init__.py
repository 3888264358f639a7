"""oxiz through its Python interface."""
