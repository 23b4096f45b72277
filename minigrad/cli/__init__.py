"""The command line ``minigrad``: its options, and the runner of the user's program."""
