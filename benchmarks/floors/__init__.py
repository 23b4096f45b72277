"""What a work cannot go below on this machine: its matrix products and elementwise passes in plain NumPy, and nothing else.

:mod:`benchmarks.floors.works` lists for each work the calls of one step, from its sizes. :mod:`benchmarks.floors.timing` runs
each call in the ways that NumPy has on this machine, and adds up the fastest. Nothing here imports minigrad.
"""
