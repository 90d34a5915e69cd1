"""Which oracle checks which estimator: a slow and readable program that knows the right answer.

Some test must hold the estimator against each oracle that is named here; tests/test_contract.py looks for it.
"""

from oracles import family, features, reference

ORACLES = {
    "ALMA": (family.alma2,),
    "AROW": (family.arow, family.arow_diagonal),
    "Adaline": (family.lms,),
    "AdalineRegressor": (family.lms,),
    "AveragedPerceptron": (family.averaged,),
    "KernelPerceptron": (reference.kernel_perceptron, reference.forgetron),
    "PNormPerceptron": (family.p_norm,),
    "PassiveAggressive": (family.passive_aggressive,),
    "Perceptron": (reference.perceptron, reference.one_vs_one, family.margin_perceptron),
    "PocketPerceptron": (family.pocket,),
    "ROMMA": (family.romma,),
    "SoftMargin": (family.pegasos,),
    "TableHasher": (features.category_column, features.number_column),
    "TextHasher": (features.text_row,),
    "VotedPerceptron": (family.voted,),
    "Winnow": (family.winnow1, family.winnow2, family.balanced_winnow),
}
# Estimators without an oracle, and what checks them instead.
WITHOUT = {
    "AssociationUnits": "a random layer computes nothing that could be right or wrong but its formula, which "
    "tests/learners/test_association.py repeats",
    "MaximumMargin": "its margin carries a proof; tests/learners/test_maximum_margin.py holds it against a support "
    "vector machine",
}
