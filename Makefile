# `make` alone lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
# Options of the player in `make play`, and the sink, which is detected by default.
ARGS ?=
SINK ?=
# Where `make bench` writes all values.
JSON ?= .build/bench.json
# Further arguments, such as --report docs/benchmarks.md or --only 'first sound'.
BENCH ?=

RELEASE = -c release --static-swift-stdlib --disable-local-rpath
BINARIES = .build/release

.DEFAULT_GOAL := help
.PHONY: help play test build release lint figures format install uninstall deb test-package bench bench-quick manual \
	screenshot soak clean
export SINK PORT

help: ## list the targets
	@echo 'Reprise, a terminal player for music on the web'
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)$$/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'
	@echo
	@echo 'make play  takes SINK=KIND (as --sink), ARGS="OPTIONS" for the player and PORT=N for the server'
	@echo 'make bench  takes JSON=FILE and BENCH="--report docs/benchmarks.md", --only WORD, --peers none'
	@echo 'make install and make uninstall  take PREFIX=/usr/local and DESTDIR='

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
	@touch $(BINARIES)/reprise

# So that `sudo make install`, which may not find swift, builds nothing after `make release`.
$(BINARIES)/reprise: Package.swift $(shell find Sources -type f)
	$(MAKE) release

lint: ## check format, imports and file sizes
	swift format lint --strict --recursive Sources Tests Package.swift
	.ci/star

figures: ## print how large the player is, and how it is divided
	@.ci/figures

format: ## format the sources in place
	swift format --in-place --recursive Sources Tests Package.swift

install: $(BINARIES)/reprise ## install the player, its manual page and completions under PREFIX
	.ci/place $< '$(DESTDIR)$(PREFIX)'

uninstall: ## remove what `make install` installs
	.ci/place --remove '$(DESTDIR)$(PREFIX)'

deb: ## install what is missing, build, and make a Debian package
	@.ci/install deb
	@$(MAKE) --no-print-directory $(BINARIES)/reprise
	.ci/deb $(BINARIES)/reprise

test-package: deb ## check the Debian package, also in a fresh Debian (from the network)
	@.ci/install package
	swift build $(RELEASE) --product reprise-origin
	.ci/test-package reprise_*.deb $(BINARIES)/reprise-origin

bench: ## measure this machine: Reprise beside mpg123, mpv, MPD and ffplay (15 minutes)
	@.ci/install bench
	swift build $(RELEASE) --product reprise
	swift build $(RELEASE) --product Benchmarks
	$(BINARIES)/Benchmarks --json $(JSON) $(BENCH)

bench-quick: ## the same with fewer rounds (4 minutes)
	@.ci/install bench
	swift build $(RELEASE) --product reprise
	swift build $(RELEASE) --product Benchmarks
	$(BINARIES)/Benchmarks --quick --json $(JSON) $(BENCH)

manual: ## write the options, keys and commands of docs/reprise.1 from their tables
	REPRISE_WRITE_MANUAL=1 swift test --filter '^RepriseTests\.DocumentTests/'

screenshot: ## draw the captures of the screen and the README's pictures again, and record the demo
	REPRISE_WRITE_CAPTURES=1 REPRISE_RECORD=1 swift test --filter '^TerminalUITests\.(ColorCapture|Capture|Recording)Tests/'

soak: ## run the tests with their full counts (hours)
	@.ci/install test
	@.ci/soak

clean: ## remove everything built, and the cache of the demo
	rm -rf .build
