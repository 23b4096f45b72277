"""Write a function and its gradient as a NumPy program.

The modules, in the order in which a program passes through them:

1. *Record.* A function runs on paper, forward and backward. :mod:`.paper` is the array that computes and writes down,
   :mod:`.recording` keeps what was written or refuses it, :mod:`.statements` says what a statement is, :mod:`.arguments` takes
   the examples apart, :mod:`.names` finds the names in the user's program, and :mod:`.running` runs it.
2. *Simplify.* The statements become those that a person would write: :mod:`.simplify` returns new ones, without what changes
   nothing, and with sums in place and without needless signs.
3. *Outline.* What repeats is written once: :mod:`.modules` makes the calls of modules that are alike one of the
   :mod:`.functions`, and :mod:`.folds` makes equal turns a :mod:`loop <.loops>`. Loops do not nest.
4. *Put sizes in place*, if examples of several sizes are given: each example's program is folded alone, without functions of
   modules, and :mod:`.sizes` writes ``len(x)`` in place of the numbers that differ.
5. *Print.* :mod:`.words` writes the lines and their comments, and decides which expressions share a line; :mod:`.spelling`
   writes numbers and long lines.

:mod:`.writing` runs all of this, and :mod:`.witness` compares the program with the tape on the same and on other values.
:mod:`.program` is what the user gets. :mod:`.traced` writes the program of a traced graph for the page of ``explain``, with the
step of the page to which each line belongs.

Additions in place (``dx += ...``) come from the user's program, from the sweep, which adds into arrays of its own, and from
:mod:`.simplify`, which writes an addition so where no other statement reads the old value. :mod:`.words` takes the last kind
back where both summands fit on one line.
"""

from .program import WrittenProgram
from .writing import write_numpy

__all__ = ["WrittenProgram", "write_numpy"]
