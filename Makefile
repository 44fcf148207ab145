# Everything runs in a virtual environment of its own; only Python 3.11+, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
LINTED := $(VENV)/linted
TESTED := $(VENV)/tested
READY := $(VENV)/ready
OUT := build/report
WORKERS := -n auto --maxprocesses 4
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes, which would each read all sources anew

# Tests in which the last bits of products of matrices could decide on a stop or a contact: the processor decides these.
BY_BITS := *stop* *contact* complementarity equations_of_motion redmax_cones redmax_friction redmax_ground redmax_schemes \
	reduced_runs reduced_shapes static_optimization

.PHONY: demo test test-processors test-slow test-long test-oldest test-newest fuzz lint format bench bench-check report docs site wheels clean

demo: $(INSTALLED)  ## an hour of a double pendulum: file, picture, summary
	mkdir -p demo
	$(BIN)/varint run double_pendulum --duration 3600 --dt 0.01 -o demo/double_pendulum.h5 --force

test: $(TESTED)  ## the fast tests: a minute, about four with an empty cache
	$(BIN)/python -m pytest -q -m "not slow" $(WORKERS)

test-processors: $(TESTED)  ## stops, contacts and reduced integrators with the products of matrices of other processors
	for kind in Haswell Nehalem $$(grep -qs avx512vl /proc/cpuinfo && echo SkylakeX); do echo "OPENBLAS_CORETYPE=$$kind"; \
	OPENBLAS_CORETYPE=$$kind $(BIN)/python -m pytest -q -m "not slow" -k "not radau" $(WORKERS) \
	$(foreach name,$(BY_BITS),$$(find tests -name 'test_$(name).py')) || exit; done

test-slow: $(READY)  ## others, some twenty minutes: sweeps, long runs, what needs optional packages
	$(BIN)/python -m pytest -q -m "slow and not long" $(WORKERS)

test-long: $(READY)  ## all that are left, before a release: more kills, more cases, longer runs
	$(BIN)/python -m pytest -q -m long --timeout 7200 $(WORKERS)

test-oldest:  ## some tests with the oldest versions of everything that are allowed
	$(PYTHON) packaging/versions.py oldest

test-newest:  ## the same tests with the newest versions of everything, the next numba among them
	$(PYTHON) packaging/versions.py newest

fuzz: $(READY)  ## wrong files and wrong calls by the ten thousand, below half an hour
	$(BIN)/python tests/fuzz/run.py all

lint: $(LINTED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python packaging/words.py  # the wording of pages, docstrings and messages

format: $(LINTED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## every target of speed and memory, as a table
	cd benchmarks && ../$(BIN)/python run.py

bench-check: $(READY)  ## is this tree as fast as the commit before, or as SINCE=COMMIT? ratios of one run
	$(BIN)/python benchmarks/check.py $(SINCE)

report: $(INSTALLED)  ## the experiments of the sources and other simulators, or ONLY=NAME, run again into OUT=FOLDER; some 40 minutes
	$(if $(ONLY),,$(BIN)/python -m pip install --quiet --no-compile --editable ".[dev,peers]")
	$(BIN)/python benchmarks/report $(ONLY) --out $(OUT)

docs: $(READY)  ## what is generated (reference, schema of mechanism files, gallery, catalogue, benchmark problems), then the site; some minutes
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/rooms.py
	cd benchmarks && ../$(BIN)/python catalogue.py && ../$(BIN)/python iftomm.py && ../$(BIN)/python redmax_scenes.py
	$(MAKE) site

site: $(READY)  ## the pages as a site: build/site/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site

wheels: $(READY)  ## wheels with compiled functions for each Python that is found, and the source, in dist/
	$(BIN)/python packaging/build_wheels.py

$(INSTALLED): pyproject.toml
	@echo "installing varint in $(VENV) ..."
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $(INSTALLED)

$(LINTED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[lint]"
	touch $(LINTED)

$(TESTED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[test]"
	touch $(TESTED)

$(READY): $(INSTALLED)
	@echo "installing what slow tests and pages need, 1.5 GB, some minutes ..."
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[dev]"
	touch $(LINTED) $(TESTED) $(READY)

clean:
	rm -rf $(VENV) demo build dist .pytest_cache .ruff_cache .mypy_cache *.egg-info
