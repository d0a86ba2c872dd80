"""One loss a file, named as in its paper."""
