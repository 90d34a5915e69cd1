"""Search for the best learner and its parameters together, in a scikit-learn pipeline."""

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive

X, y = load_digits(return_X_y=True)
pipeline = Pipeline([("scale", MinMaxScaler()), ("learn", AveragedPerceptron())])
grid = [
    {"learn": [AveragedPerceptron()], "learn__multiclass": ["ovr", "ovo-vote"]},
    {"learn": [PassiveAggressive()], "learn__C": [0.01, 0.1, 1.0]},
    {"learn": [AROW()], "learn__r": [0.1, 1.0, 10.0]},
]
search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print(search.best_params_["learn"])
print(f"accuracy {search.best_score_:.3f}")
