# Every verb is a script in .ci/, so that people, hooks and CI do the same.

.PHONY: help build test test-all test-slow demo bench bench-newest fuzz install-test wheel docs \
  lint format clean
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

build:  ## .venv with `import waybill`, and build/waybill
	@.ci/setup && .ci/build release

test:  ## all tests of this machine's Python
	@.ci/test

test-all:  ## tests on every CPython that can be had, sanitizers, short fuzzing
	@.ci/test-all

test-slow:  ## tests that take minutes each, before an issue is closed
	@.ci/test-slow

demo:  ## the main job on real input
	@.ci/demo

bench:  ## measurements against the peers, with plots
	@.ci/bench

bench-newest:  ## the same with the newest CPython of Debian, in a chroot
	@.ci/bench-newest

fuzz:  ## each fuzz harness for a minute; SECONDS=600 HARNESSES="reader loads"
	@.ci/fuzz-smoke $(or $(SECONDS),60) $(HARNESSES)

install-test:  ## outside projects against an installed tree, CMake and pkg-config
	@.ci/install-test

wheel:  ## dist/*.whl for this machine's Python
	@.ci/wheels

docs:  ## build/docs: all pages, the reference of Python and of C++
	@.ci/docs

lint:  ## formatting, ruff, mypy, spelling
	@.ci/lint

format:  ## rewrites sources in the house style
	@.ci/lint --fix

clean:  ## removes what was built; .venv stays
	rm -rf build dist
