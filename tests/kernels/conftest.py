"""Settings shared by the tests of the dual."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    """Keep to one thread: what is computed does not depend on it, and tiny shares cost more to hand out than to do."""
    with threadpool_limits(1, user_api="blas"):
        yield
