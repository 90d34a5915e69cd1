"""What the documents say is true."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pages
def test_examples_give_what_they_show(page):
    failures, _ = doctest.testfile(str(page), module_relative=False)
    assert failures == 0


@pages
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_architecture_page_knows_every_module():
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    for module in (ROOT / "src" / "rosenblatt").glob("*.py"):
        assert module.stem == "__init__" or f"`{module.stem}`" in text, module.stem


def test_training_without_estimators_does_not_load_scikit_learn():
    script = "import sys, rosenblatt; rosenblatt.train([[0], [1]], [0, 1]); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout.strip() == "False"
