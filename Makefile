# The commands of the project; `make` alone lists them.
#
# Recipes are one or two lines: what needs more lives in .ci/, as a script that
# can be read and run alone.

SHELL := /bin/bash

# What `make run` scans. The user's own files are a safe and interesting start.
ROOT ?= $(HOME)
export ROOT
# More arguments: for `fstally serve` or `fstally demo`, see their --help; for
# `make bench`, those of test/bench/scan, such as ARGS='-scale 0.1 -dir /var/tmp/trees'.
ARGS ?=
# Which benchmarks `make bench` runs, as a pattern for `go test -bench`.
BENCH ?= .

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# Of the commit: files that are made for others say no other time.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
# Where the program and its packages are put.
BIN := bin/fstally
DIST := dist
# Without cgo the binary is static, and so runs on old enterprise Linux too.
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
# The linters are a module of their own, so that what they depend on stays out
# of the program's go.mod; go builds them once and keeps them in its cache.
GOLANGCI_LINT := go tool -modfile=.ci/tools/go.mod golangci-lint

ifneq ($(origin ARG),undefined)
$(error ARG is not read: write ARGS='...')
endif

.PHONY: help
help: ## list these commands
	@awk -f .ci/help.awk Makefile

.PHONY: run
run: ## set up what is missing, then serve and scan ROOT (default: your home)
	@.ci/setup run
	@$(MAKE) --no-print-directory build
	@.ci/serve "$$ROOT" $(ARGS)

.PHONY: demo
demo: ## set up what is missing, then invent years of scans and show them
	@.ci/setup run
	@$(MAKE) --no-print-directory build
	@.ci/demo $(ARGS)

.PHONY: build
build: ## build bin/fstally; needs only Go, as the web bundle is committed
	@[ -e bin/fstally ] || echo 'building; the first time takes some minutes and fetches Go modules'
	$(GO_BUILD) -o $(BIN) ./cmd/fstally

.PHONY: package
package: build ## make deb, rpm and an offline bundle in dist/ (docs/install.md)
	GOOS= GOARCH= go run -C .ci/tools/pack . -root '$(CURDIR)' -binary '$(BIN)' -out '$(DIST)' -describe '$(VERSION)' \
		-time $(SOURCE_DATE_EPOCH) -arch "$$(go env GOARCH)"

.PHONY: test
test: ## set up what is missing, then check everything; needs Node
	@.ci/test

.PHONY: lint
lint: ## run the linters and check the import arrows (.golangci.yml)
	$(GOLANGCI_LINT) run ./...

.PHONY: fuzz
fuzz: ## run each fuzz target for a few seconds (FUZZTIME=10s)
	@.ci/fuzz

.PHONY: bench
bench: ## time scans beside other tools (ARGS), Go code (BENCH=pattern) and pages
	test/bench/scan/run $(ARGS)
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./internal/...
	test/bench/run

.PHONY: generate
generate: web/node_modules/.package-lock.json ## write the committed generated files anew; needs Node
	go tool templ generate -log-level warn -path web
	go generate ./...
	npm --prefix web run --silent check
	npm --prefix web run --silent build

.PHONY: fmt
fmt: ## format the Go sources, with imports in groups
	$(GOLANGCI_LINT) fmt

.PHONY: clean
clean: ## remove what was built, not the data of a `make run`
	rm -rf bin dist web/node_modules test/e2e/failures

web/node_modules/.package-lock.json: web/package.json web/package-lock.json web/.npmrc
	npm --prefix web ci
	@touch $@
