"""Draw the picture of the README: a run that ends, and a proof that no line separates XOR.

python docs/pictures/readme.py
"""

from pathlib import Path

import matplotlib

from rosenblatt import certify, trace
from rosenblatt.datasets import logical
from rosenblatt.plots import new_figure, plot_certificate, plot_trace

figure = new_figure(8.0, 3.6)
left, right = figure.subplots(1, 2)
X, y = logical("or")
plot_trace(trace(X, y), X, y, ax=left)
left.set_title("OR: separated after 9 updates", size=10)
X, y = logical("xor")
plot_certificate(certify(X, y), X, y, ax=right)
right.set_title("XOR: proof that no line separates it", size=10)
for ax in (left, right):
    ax.get_legend().remove()
with matplotlib.rc_context({"svg.hashsalt": "rosenblatt"}):
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None}, facecolor="white")
