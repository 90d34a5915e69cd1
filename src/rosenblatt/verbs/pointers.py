"""Pointers to arrays, which have no reference counts.

Of arrays Numba updates them several times a row where the code has branches, atomically, which takes longer than a
short row. An array must outlive its pointer; nothing here checks bounds.
"""

from rosenblatt.jit import overload
from rosenblatt.verbs.rows import INLINED


def pointer(array):
    """Return the elements of an array as they lie in memory; compiled, their address."""
    return array.ravel("K")


def _pointer(array):  # pragma: no cover
    # Numba is imported here, since this is called when it is in use anyway: commands do without it.
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def address(typing_context, array):
        def emit(context, builder, signature, args):
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return types.CPointer(array.dtype)(array), emit

    return lambda array: address(array)


overload(pointer, jit_options=INLINED)(_pointer)
