"""Past one machine: the same estimators on Dask and on Spark, and what that costs. Public.

`rosenblatt.scaling.dask` and `rosenblatt.scaling.spark` each need their engine, and import it when they are imported.
"""

from rosenblatt.scaling.estimate import Estimate, plan
from rosenblatt.scaling.merging import merge

__all__ = ["Estimate", "merge", "plan"]
