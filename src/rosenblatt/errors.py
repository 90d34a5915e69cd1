"""The exceptions and the warning of the package.

A message states the value, the fault and the remedy.
"""


class RosenblattError(Exception):
    """Base class of the errors of this package."""


class InvalidInput(RosenblattError, ValueError):
    """The data or a parameter is invalid."""


class InvalidArgument(InvalidInput, TypeError):
    """An argument is unknown, lacks its keyword, or has the wrong type."""


class NotAvailable(RosenblattError, AttributeError):
    """A method or attribute does not exist, or not with these parameters; the message names an alternative."""


class UnprovedClaim(RosenblattError, AssertionError):
    """A certificate failed its own verification: a bug in this package, not a fault of the data."""


class MissingExtra(RosenblattError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


class NoWorker(RosenblattError, TimeoutError):
    """No worker became available before the timeout."""


class ScaleWarning(UserWarning):
    """A column of the data is so large that the others have little influence."""


class TooLarge(InvalidInput):
    """The problem exceeds the memory of the machine or the limits of exact arithmetic."""
