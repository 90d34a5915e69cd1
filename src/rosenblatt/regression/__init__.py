"""Estimate logistic and Poisson regressions, also where maximum likelihood has no finite estimates.

* `families` has the two likelihoods, `observations` checks designs and responses.
* `columns` decides which columns, and which coefficients, the rows identify.
* `maximise` finds the maximum of a likelihood, with or without Firth's penalty.
* `fits` has `firth` and `maximum_likelihood`, `table` shows them side by side.
* `diagnosis` puts them beside the certificate of the design: `rosenblatt.diagnose`.
"""

from rosenblatt.regression.fits import FirthFit as FirthFit
from rosenblatt.regression.fits import Fit as Fit
from rosenblatt.regression.fits import firth as firth
from rosenblatt.regression.fits import maximum_likelihood as maximum_likelihood
from rosenblatt.regression.table import EstimateTable as EstimateTable
