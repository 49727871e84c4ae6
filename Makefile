# Thin names for the commands of this project; `make help` lists them.
# SPDX-License-Identifier: Apache-2.0
.DEFAULT_GOAL := build
.PHONY: help build demo docs web screenshots test test-pythons test-torches test-hosts test-aarch64 soak bench viewers asan tsan release fuzz wheel format lint tidy golden clean
T ?= all
# Node of .venv, for programs that npm starts
NODE = PATH="$(CURDIR)/.venv/bin:$$PATH"
S ?= 60
# What `make screenshots` takes from each page of docs/pictures/report.py
REPORTS = build/reports/steps.html build/reports/kernels.html=kernels build/reports/compared.html=compare build/reports/job.html=ranks

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' Makefile | while read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

build: ## the C++ library, the program opscope-native and their tests
	@tools/setup packages && cmake --preset dev && cmake --build --preset dev

demo: ## profile a real ResNet-18, beside the original profiler
	@tools/setup && .venv/bin/python examples/demo.py

docs: ## the documents as a site with a search, in build/site, and the reports of the gallery in build/site/gallery
	@tools/setup && tools/setup docs && .venv/bin/zensical build --clean --strict -f mkdocs.yml
	@.venv/bin/python examples/gallery/build.py build/site/gallery

web: ## the page of reports: checks and tests web/src, builds web/page.html (installs Node into .venv)
	@tools/setup web && cd web && $(NODE) npm run check && $(NODE) npm test && $(NODE) npm run build

screenshots: ## a picture of every tab of a report into docs/pictures/report; R=FILE.html for another than docs/pictures/report.py writes
	@tools/setup && tools/setup browser && tools/setup web
	@test -n "$(R)" || .venv/bin/python docs/pictures/report.py build/reports
	@$(NODE) node web/tools/screenshots.mjs docs/pictures/report $(or $(R),$(REPORTS))

test: ## everything: C++ and Python tests, the page in a browser, the map, the examples
	@tools/setup browser && tools/setup java && tools/run_tests.py

test-pythons: ## stacks beside torch.profiler's on Python 3.10, 3.12 and 3.13 (installs torch for each)
	@tools/setup tests && tools/test_pythons

test-torches: ## the wheels of torch that people install, one after the other; writes the table of docs/reference/torch_versions.md
	@tools/setup tests && tools/test_torches $(V)

test-hosts: ## the newest and the oldest trainers and tools that opscope.integrations fits; writes the table of docs/reference/host_versions.md
	@tools/setup tests && tools/test_hosts $(V)

test-aarch64: ## recorder, importers and torch's adapter built for aarch64, tested under qemu (3 GB below build)
	@tools/setup && tools/test_aarch64 $(V)

soak: ## the reliability tests in full size (about an hour), with their figures
	@tools/setup packages && tools/run_tests.py --soak

bench: ## every speed and memory row, both sides; writes docs/explanation/performance.md
	@tools/setup && tools/setup browser && tools/setup web && tools/setup bench && bench/run

asan: ## C++ tests, and Python tests of the bindings, under the address and undefined-behaviour sanitizers
	@tools/setup && tools/setup tests && tools/run_tests.py --preset asan

tsan: ## C++ tests under the thread sanitizer
	@tools/setup && tools/run_tests.py --preset tsan

release: ## C++ tests without precompiled headers, as packagers build it
	@tools/setup packages && tools/run_tests.py --preset release

viewers: ## traces in HTA, TensorBoard, Perfetto, about:tracing, speedscope and pprof (installs 700 MB beside .venv)
	@tools/setup viewers && tools/viewers/run

wheel: ## the wheel, checked by auditwheel and tried on each Python from 3.10 to 3.13 that is here
	@tools/setup packages && tools/setup wheel && tools/build_wheel.py

fuzz: ## libFuzzer on every parser, S seconds each; on one: make fuzz T=chrome_json S=60
	@tools/setup packages && tools/fuzz $(T) $(S)

format: ## rewrite C++ and Python sources in the project's format
	@tools/format --write

lint: ## formats, ruff, the map, words and openings; changes nothing
	@tools/format --check && tools/check_map.py && .venv/bin/ruff check && tools/lint.py

tidy: ## clang's thread-safety analysis and clang-tidy over the whole tree (needs clang-tidy-16)
	@tools/setup packages && tools/setup wheel && tools/tidy

golden: ## rewrite the expected files of the golden tests; review the diff
	@cmake --preset dev && cmake --build --preset dev && OPSCOPE_UPDATE_GOLDEN=1 ctest --preset dev -L golden

clean: ## remove what was built (the Python environment stays)
	@rm -rf build demo-out
