"""The exceptions of the package, one tree, and its warning; one sentence each.

A message says the value that was found, what is wrong with it and what to do about it.
"""


class RosenblattError(Exception):
    """Root of every error raised by rosenblatt itself."""


class InvalidInput(RosenblattError, ValueError):
    """The data or a parameter cannot be used as it is."""


class InvalidArgument(InvalidInput, TypeError):
    """An argument does not exist, stands without its name, or is not the kind of thing that is asked for."""


class NotAvailable(RosenblattError, AttributeError):
    """A method does not exist here, or not with these parameters; the message names what does."""


class UnprovedClaim(RosenblattError, AssertionError):
    """What was to be certified did not pass its verification: a defect of the package, never of the data."""


class MissingExtra(RosenblattError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class NoWorker(RosenblattError, TimeoutError):
    """A cluster had no worker for so long that one does not wait any more."""


class ScaleWarning(UserWarning):
    """A column of the data outweighs the others, so that little is learned from those."""


class TooLarge(InvalidInput):
    """More memory than there is, or more unknowns than exact arithmetic is set up for."""
