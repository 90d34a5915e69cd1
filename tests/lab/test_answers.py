"""Answers to the questions of a page; the Python code among them gives the weights on its screen."""

import json
import subprocess
import sys

import numpy as np
import pytest

from rosenblatt.errors import InvalidInput
from rosenblatt.lab.answers import _ANSWERS, answer, python_of, trial_of
from rosenblatt.lab.catalogue import chapters, learner_names
from rosenblatt.lab.frames import record_scene
from rosenblatt.lab.scene import Scene
from scenes import random_scene


def test_every_kind_of_question_has_an_answer_of_its_type():
    kinds = {"run": bytes, "surface": bytes, "code": str, "page": str}
    kinds |= dict.fromkeys(("certificate", "table"), dict)
    assert set(_ANSWERS) == set(kinds)
    for kind, wanted in kinds.items():
        assert isinstance(answer(kind, {"data": "or", "t": 3, "text": "a,b,y\n1,2,u\n3,4,v\n"}), wanted)


@pytest.mark.parametrize("t", [-1, 1.5, "3", True, None, 10**12])
def test_a_trial_is_a_whole_number(t):
    with pytest.raises(InvalidInput, match="not a trial"):
        trial_of({"t": t})


def test_an_unknown_question_is_rejected_with_the_closest_name():
    with pytest.raises(InvalidInput, match="Did you mean 'certificate'"):
        answer("certificates", {})


# ----------------------------------------------------------------------------------------------------------------- code

# Each program gets names of its own; one process runs them all, as to start one takes seconds.
RUNNER = """
import json, sys, warnings
warnings.simplefilter("ignore")
for program in json.load(sys.stdin):
    names = {}
    exec(compile(program, "shown", "exec"), names)
    sys.stderr.write(json.dumps([names["w"].tolist(), names["b"].tolist()]) + "\\n")
"""


def shown(scene, t):
    """The weights on the screen."""
    recorded = record_scene(scene)
    if recorded.recording is None:
        return recorded.estimator.coef_, recorded.estimator.intercept_
    run = recorded.recording
    state = run.at[t - 1] if t else 0
    return run.W[state], run.b[state]


def cases():
    found = [(Scene.from_dict(one["scene"]), step["t"]) for one in chapters() for step in one["steps"]]
    random = np.random.default_rng(0)
    for seed in range(3):
        for name in learner_names():
            scene = random_scene(name, 100 + seed)
            recording = record_scene(scene).recording
            found.append((scene, 0 if recording is None else int(random.integers(recording.row.size + 1))))
    points = "data=points&p=0.1,0.2a;1.5,-0.3b;0.7,0.7a;-1,2b&start=0.5,-0.25,1&param.eta0=0.3"
    return [*found, (Scene.from_query(points), 5)]


def test_every_program_gives_the_weights_on_the_screen():
    chosen = cases()
    programs = [python_of(scene, t) for scene, t in chosen]
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(programs), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[")]
    assert len(answers) == len(chosen) >= 30
    for (scene, t), program, (w, b) in zip(chosen, programs, answers, strict=True):
        # A processor may round the sums of dense rows in its own way; of whole numbers they are exact.
        whole = scene.data in ("or", "and", "xor", "spam") and scene.traits.rule == "perceptron" and not scene.params
        for found, wanted in zip((w, b), shown(scene, t), strict=True):
            np.testing.assert_allclose(
                found, wanted, rtol=0 if whole else 1e-9, atol=0 if whole else 1e-9, err_msg=program
            )


@pytest.mark.parametrize("name", learner_names())
def test_a_program_is_short_and_imports_only_what_is_public(name):
    for seed in range(10):
        program = python_of(random_scene(name, seed), 3)
        lines = program.splitlines()
        assert len(lines) <= 15
        imports = [line for line in lines if "import" in line]
        allowed = ("numpy", "rosenblatt ", "rosenblatt.datasets", "rosenblatt.lab.catalogue")
        assert all(line.split()[1].startswith(tuple(one.strip() for one in allowed)) for line in imports)
        compile(program, "shown", "exec")


def test_the_first_screen_is_ten_lines():
    assert python_of(Scene(), 9) == (
        "from rosenblatt import Perceptron, record\n"
        "from rosenblatt.datasets import logical\n"
        "\n"
        'X, y = logical("or")\n'
        "run = record(Perceptron(shuffle=False, max_iter=100, tol=None), X, y)\n"
        "state = run.at[9 - 1]  # after trial 9\n"
        "w, b = run.W[state], run.b[state]\n"
        "print(w, b)\n"
    )
