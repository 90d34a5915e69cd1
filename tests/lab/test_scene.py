"""Scenes: whatever comes from outside is checked, and what is checked survives an address."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.catalogue import MAX_TRIALS, learner_names
from rosenblatt.lab.scene import Racer, Scene, packed, unpacked
from scenes import random_scene

coordinates = st.integers(-300, 300).map(lambda value: value / 100) | st.floats(-1e6, 1e6)
points = st.lists(st.tuples(coordinates, coordinates, st.integers(0, 3)).map(list), min_size=1, max_size=12)
names = st.sampled_from(learner_names())


@st.composite
def scenes(draw):
    """Scenes by lot, of which some have points, a start and a race."""
    one = random_scene(draw(names), draw(st.integers(0, 10**6))).as_dict()
    if draw(st.booleans()):
        one |= {"data": "points", "points": draw(points)}
    if one["learner"] in ("Perceptron", "Adaline") and draw(st.booleans()):
        one["start"] = draw(st.lists(coordinates, min_size=3, max_size=3))
    others = [random_scene(draw(names), draw(st.integers(0, 10**6))) for _ in range(draw(st.integers(0, 3)))]
    one["race"] = [{"learner": o.learner, "params": dict(o.params), "order": o.order} for o in others]
    return Scene.from_dict(one)


@settings(deadline=None, max_examples=150)
@given(scenes())
def test_a_scene_survives_an_address_and_json(one):
    assert Scene.from_query(one.to_query()) == one
    assert Scene.from_query("#" + one.to_query()) == one
    assert Scene.from_dict(json.loads(json.dumps(one.as_dict()))) == one


def or_sentence(make, given_value):
    """Whether a scene is made, or refused in a sentence of bearable length."""
    try:
        return isinstance(make(given_value), Scene)
    except InvalidInput as error:
        return str(error).endswith((".", "?")) and len(str(error)) < 600


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=200) | st.text("datlerp=.&#;,:%0123ab-", max_size=120))
def test_any_address_is_a_scene_or_is_rejected_with_a_message(text):
    assert or_sentence(Scene.from_query, text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
KEYS = ["data", "n", "margin", "points", "learner", "params", "features", "units", "order", "seed", "epochs", "start"]
KEYS += ["race", "data_seed"]


@settings(deadline=None, max_examples=300)
@given(
    st.dictionaries(st.sampled_from([*KEYS, "race", "data_seed"]), values), st.sampled_from(["or", "points", "clouds"])
)
def test_any_json_is_a_scene_or_is_rejected_with_a_message(body, data):
    assert or_sentence(Scene.from_dict, body)
    assert or_sentence(Scene.from_dict, body | {"data": data})


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"data": "nor"}, "Did you mean 'or'"),
        ({"learner": "perceptron"}, "Did you mean 'Perceptron'"),
        ({"params": {"eta": 1}}, "Did you mean 'eta0'"),
        ({"params": {"eta0": 0}}, "from 0.01 to 10"),
        ({"params": {"eta0": "1"}}, "from 0.01 to 10"),
        ({"params": {"batch": 1}}, "true or false"),
        ({"params": [1]}, "params="),
        ({"data": "clouds", "n": 5.5}, "an integer from 4 to 2000"),
        ({"data": "clouds", "n": 10**9}, "an integer from 4 to 2000"),
        ({"data": "points"}, "points=None"),
        ({"data": "points", "points": []}, "1 to 2000 points"),
        ({"data": "points", "points": [[0, 0, 4]]}, "a class from 0 to 3"),
        ({"data": "points", "points": [[0, 0, 0], [1, 1]]}, "different numbers of coordinates"),
        ({"data": "points", "points": [[0, float("nan"), 0]]}, "not a point"),
        ({"data": "points", "points": [[0, 1e300, 0]]}, "not a point"),
        ({"data": "points", "points": [["0", "0", 0]]}, "not a point"),
        ({"data": "points", "points": [[0, 0, 0]] * 2001}, "1 to 2000 points"),
        ({"start": [1]}, "start="),
        ({"start": [1, 2, 3], "learner": "VotedPerceptron"}, "cannot start from other weights"),
        ({"features": "quadratic", "learner": "KernelPerceptron"}, "for linear learners"),
        ({"epochs": 0}, "from 1 to 5000"),
        ({"seed": -1}, "from 0 to 9999"),
        ({"order": "sorted"}, "cyclic, shuffled, random"),
        ({"race": [{"learner": "Perceptron"}] * 4}, "at most 3"),
        ({"race": ["Perceptron"]}, "not a racer"),
        ([], "not a scene"),
    ],
)
def test_each_wrong_value_is_rejected_with_its_fault(body, says):
    with pytest.raises(InvalidInput, match=says):
        Scene.from_dict(body)


def test_a_wrong_address_is_rejected_with_its_fault():
    for text, says in [
        ("data=points&p=1,2", "not a point"),
        ("data=points&p=1e999,2a", "not a finite number"),
        ("param.C=1", "has no parameter"),
        ("param.eta0=big", "not a finite number"),
        ("start=1,x,2", "not a finite number"),
        ("race=Nobody", "is not known"),
        ("&".join(f"k{i}=1" for i in range(101)), "more than 100"),
        ("p=" + "1" * 1_000_001, "too long"),
    ]:
        with pytest.raises(InvalidInput, match=says):
            Scene.from_query(text)


def test_keys_that_are_not_known_are_left_alone():
    assert Scene.from_query("t=9&view=sphere&hide=order&theme=dark&what=ever") == Scene()
    assert Scene.from_dict({"what": [1], "n": 3}) == Scene()


def test_defaults_are_not_written():
    assert Scene().to_query() == "data=or&learner=Perceptron&order=cyclic"
    same = {"params": {"eta0": 1.0}, "data": "clouds", "n": 60, "start": [0, 0, 0]}
    assert Scene.from_dict(same) == Scene(data="clouds")


def test_drawn_points_are_rows_with_a_class():
    one = Scene.from_query("data=points&p=0.25,1.5a;-1,0.5b")
    X, y = one.rows()
    assert X.tolist() == [[0.25, 1.5], [-1.0, 0.5]]
    assert y.tolist() == [0, 1]
    with pytest.raises(InvalidInput, match="of one class"):
        Scene.from_query("data=points&p=0,0a;1,1a").rows()


def test_arguments_are_those_that_differ_from_the_defaults():
    X = np.ones((4, 2))
    assert Scene.from_query("epochs=1000&order=shuffled").arguments(X, 2) == {"tol": None}
    assert Scene().arguments(X, 2) == {"shuffle": False, "max_iter": 100, "tol": None}
    started = Scene.from_dict({"start": [1, 2, 3], "seed": 4}).arguments(X, 2)
    assert started == {"shuffle": False, "max_iter": 100, "random_state": 4, "tol": None, "init": ([1.0, 2.0], 3.0)}
    assert Scene(learner="MaximumMargin").arguments(X, 2) == {}


def test_small_values_keep_the_constant_of_the_theorems():
    assert Scene().arguments(0.1 * np.ones((4, 2)), 2)["intercept_scaling"] == 1.0


def test_impossible_combinations_are_rejected_with_a_message():
    with pytest.raises(InvalidInput, match="does not fit 2 weights"):
        Scene.from_dict({"start": [1, 2]}).arguments(np.ones((4, 2)), 2)
    with pytest.raises(InvalidInput, match="multiclass"):
        Scene.from_dict({"learner": "Adaline", "params": {"multiclass": "joint"}})


def test_epochs_are_limited_by_what_a_page_can_show():
    assert Scene(epochs=5000).limit(4) == MAX_TRIALS // 4
    assert Scene(epochs=7).limit(4) == 7
    assert Scene(epochs=7).limit(10**6) == 1


def test_a_race_has_learners_with_their_parameters_and_orders():
    one = Scene.from_query("data=clouds&n=20&start=1,2,3&race=PassiveAggressive:shuffled:C=2;AROW")
    assert one.race == (Racer("PassiveAggressive", (("C", 2.0),), "shuffled"), Racer("AROW"))


def test_names_of_columns():
    assert Scene(data="spam").columns()[1] == "viagra"
    assert Scene.from_query("features=quadratic").learned_columns() == ("x1", "x2", "x1^2", "x1 x2", "x2^2")
    assert Scene.from_query("features=cubic").learned_columns()[5:] == ("x1^3", "x1^2 x2", "x1 x2^2", "x2^3")
    assert len(Scene.from_query("features=units&units=7").learned_columns()) == 7
    assert Scene.from_query("data=points&p=1,2,3a;1,2,4b").columns() == ("x1", "x2", "x3")


# ------------------------------------------------------------------------------------------------------- packed points


@given(
    st.integers(0, 6),
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(st.lists(st.integers(-(10**6), 10**6), min_size=width, max_size=width), st.integers(0, 3)),
            min_size=1,
            max_size=30,
        )
    ),
)
def test_points_are_packed_and_unpacked(decimals, drawn):
    points = [[*(value / 10**decimals for value in row), label] for row, label in drawn]
    assert unpacked(packed(points)) == points


def test_many_points_are_packed_in_an_address_and_few_are_readable():
    random = np.random.default_rng(0)
    points = [[*np.round(random.normal(0, 1.5, 2), 2).tolist(), k % 2] for k in range(500)]
    many = Scene.from_dict({"data": "points", "points": points})
    assert "&q=" in many.to_query()
    assert Scene.from_query(many.to_query()) == many
    few = Scene.from_dict({"data": "points", "points": points[:8]})
    assert "&p=" in few.to_query()
    text = ";".join(f"{x:g},{y:g}a" for x, y, _ in points)
    assert len(many.to_query()) < 0.6 * len(text)
    long = Scene.from_dict({"data": "points", "points": [[1 / 3, k, k % 2] for k in range(20)]})
    assert "&p=" in long.to_query()
    assert Scene.from_query(long.to_query()) == long


@pytest.mark.parametrize("text", ["", "A", "!", "AAA", "AgIA", "ggIC", "\u00e9\u00e9\u00e9\u00e9", "AgD_", "CAICAg"])
def test_a_damaged_text_of_points_is_rejected_with_a_message(text):
    with pytest.raises(InvalidInput):
        Scene.from_dict({"data": "points", "points": unpacked(text)})
