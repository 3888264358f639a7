"""Asks a solver which operators, sorts, commands, options, tactics and simplifiers it has, and compares them
with the theory files and option tables.

``words`` collects candidates from the solver's library, ``scripts`` says how a solver is asked (a solver's
``listing.py`` where that is not enough), ``ranks`` tries arguments, ``comparing`` finds what is not known.
"""
