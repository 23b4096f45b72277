"""Write a function and its gradient as a NumPy program.

The modules, in the order in which a program passes through them:

1. A function runs on paper. :mod:`.paper` is the array that computes and writes down, :mod:`.recording` keeps what was written
   or refuses it, :mod:`.statements` says what a statement is, :mod:`.arguments` takes the examples apart, :mod:`.names` finds
   the names in the user's program, and :mod:`.running` runs forward and backward.
2. The statements become those that a person would write: :mod:`.simplify` returns new ones, without what changes nothing,
   and with sums in place and without needless signs.
3. What repeats is folded. :mod:`.turns` finds the turns of a loop and :mod:`.folds` makes it a :mod:`loop <.loops>`;
   :mod:`.calls` finds the calls of modules that are alike, and :mod:`.modules` makes them one of the :mod:`.functions`;
   :mod:`.sizes` puts ``len(x)`` in place of numbers where examples of several sizes are given.
4. The statements become text: :mod:`.joining` decides which expressions share a line, :mod:`.spelling` writes numbers and
   long lines, and :mod:`.words` writes the lines and their comments.
5. :mod:`.witness` writes the program again on the same and on other values, and compares. :mod:`.writing` runs all of this,
   :mod:`.program` is what the user gets, and :mod:`.traced` gives a traced graph its program, line by step.
   :mod:`.beside` sets a written program beside one of a person, by the numbers that their lines compute.
"""

from .program import WrittenProgram
from .writing import write_numpy

__all__ = ["WrittenProgram", "write_numpy"]
