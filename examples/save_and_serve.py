"""Save a model, and predict in another process without scikit-learn. Loading the file executes nothing."""

import subprocess
import sys
import tempfile
from pathlib import Path

from rosenblatt import AveragedPerceptron, save
from rosenblatt.datasets import spam

SERVER = """
import sys, rosenblatt
model = rosenblatt.load_linear(sys.argv[1])
print(model.predict([[1, 1, 0, 0, 0]])[0], "sklearn" in sys.modules)
"""

X, y = spam()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "spam.safetensors"
    save(AveragedPerceptron().fit(X, y), path)
    answer = subprocess.run([sys.executable, "-c", SERVER, str(path)], capture_output=True, text=True, check=True)
    print(f"{path.stat().st_size} bytes; predicted, scikit-learn loaded:", answer.stdout.strip())
