# Everything starts here: `make` alone says what there is.

PREFIX ?= /usr/local
DESTDIR ?=
# What `make play` hands to the player besides the demo, and the sink in place of the one found.
ARGS ?=
SINK ?=
# Where `make bench` leaves all values.
JSON ?= .build/bench.json
# What else it is told, such as --readme README.md or --only 'first sound'.
BENCH ?=

RELEASE = -c release --static-swift-stdlib
BINARIES = .build/release

.DEFAULT_GOAL := help
.PHONY: help play test build release lint figures format install bench bench-quick soak clean
export SINK PORT

help: ## say what there is
	@echo 'Reprise, a terminal player for music on the web'
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)$$/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'
	@echo
	@echo 'make play  takes SINK=KIND (as --sink), ARGS="OPTIONS" for the player and PORT=N for its server'
	@echo 'make bench  takes JSON=FILE and BENCH="--readme README.md", --only WORD, --peers none'
	@echo 'make install  takes PREFIX=/usr/local and DESTDIR='

play: ## install what is missing, build, and play the demo from a server on loopback
	@.ci/install play
	swift build $(RELEASE) --product reprise
	swift build $(RELEASE) --product reprise-origin
	@.ci/play $(BINARIES)/reprise $(BINARIES)/reprise-origin $(ARGS)

test: ## install what is missing and run all checks (VERBOSE=1 shows their output)
	@.ci/install test
	@.ci/check

build: ## build everything for debugging, tests included
	swift build --build-tests

release: ## build the release binary
	swift build $(RELEASE) --product reprise

lint: ## check formatting, imports and file sizes
	swift format lint --strict --recursive Sources Tests Package.swift
	.ci/star

figures: ## print how large the player is, and how it is divided
	@.ci/figures

format: ## format the sources in place
	swift format --in-place --recursive Sources Tests Package.swift

install: release ## install the release binary under PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin
	install -s -m 755 $(BINARIES)/reprise $(DESTDIR)$(PREFIX)/bin/reprise

bench: ## measure this machine: Reprise beside mpg123, mpv, MPD and ffplay (14 minutes)
	@.ci/install bench
	swift build $(RELEASE) --product reprise
	swift build $(RELEASE) --product Benchmarks
	$(BINARIES)/Benchmarks --json $(JSON) $(BENCH)

bench-quick: ## the same with fewer rounds (4 minutes)
	@.ci/install bench
	swift build $(RELEASE) --product reprise
	swift build $(RELEASE) --product Benchmarks
	$(BINARIES)/Benchmarks --quick --json $(JSON) $(BENCH)

soak: ## run the tests with their full counts (hours)
	@.ci/install test
	@.ci/soak

clean: ## remove all that was built, the demo's cache included
	rm -rf .build
