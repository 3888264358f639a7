"""The command line of exhume: parse, call, print. All that is worth having lies in the other packages."""
