"""The command line, ``minigrad``: its options, and the user's program that it runs."""
