"""Write a function and its gradient as a NumPy program.

:mod:`.writing` runs the passes, each of which takes statements and returns new ones:

1. *Record.* The function runs on :mod:`.paper`, forward and backward: an array that computes and writes down. :mod:`.record`
   says what a statement is, keeps what was written, and finds the names in the user's program.
2. *Simplify.* The statements become those that a person would write: :mod:`.simplify` leaves out what changes nothing and
   arguments that are the default, and writes sums in place and without needless signs.
3. *Outline.* What repeats is written once: :mod:`.modules` makes the calls of modules that are alike one function, and
   :mod:`.loops` *folds* equal *turns*, the iterations of a loop, into a loop. Loops do not nest.
4. *Put sizes in place*, if examples of several sizes are given: each example's program is folded alone, without functions of
   modules, and :mod:`.sizes` writes ``len(x)`` in place of the numbers that differ.
5. *Print.* What goes into print is a :class:`~.modules.Draft`. :mod:`.text` writes its lines and their comments, and decides
   which expressions share a line; :mod:`.names` gives names. :mod:`.lines` then lays the lines out.

:mod:`.simplify`, :mod:`.modules`, :mod:`.loops`, :mod:`.text`, :mod:`.names` and :mod:`.lines` never refuse. An
``UnsupportedError`` comes from :mod:`.record` and :mod:`.paper`, the arguments in :mod:`.program`, :mod:`.sizes`,
:mod:`.witness` or :mod:`.traced`.

:mod:`.program` is what the user gets, with its arguments. :mod:`.witness` compares it with the tape on the same and on other
values. :mod:`.traced` writes the program of a traced graph for the page of ``explain``, with the step of the page to which each
line belongs: it runs the operations that the trace has noted, and not the user's function, on paper.

Additions in place (``dx += ...``) come from the user's program, from the sweep, which adds into arrays of its own, and from
:mod:`.simplify`, which writes an addition so where no other statement reads the old value. :mod:`.text` takes the last kind
back where both summands fit on one line.
"""

from .program import WrittenProgram
from .writing import write_numpy

__all__ = ["WrittenProgram", "write_numpy"]
