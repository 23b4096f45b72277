"""Freeze as text what a refactoring could lose, and compare two revisions: ``python -m tests.proof compare REVISION``.

A *side* is a folder with the whole repository: the working tree, or a git worktree of another revision. Each *section* writes
text files about a side, in a process of its own that imports the packages and the tests of this side. The code of the proof
is always that of the working tree. A section finds things by what they are and not by the file that they are in, and its keys
are names or hashes of a text. So moving a file changes nothing, and losing its content does.
"""
