# What a contributor types. Each target stands alone and needs Go only; the
# tagged tests and what CI does more are in .ci/run.

GOLANGCI_VERSION := v2.15.0
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/troupe-tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
BENCHTIME ?= 1s

.PHONY: build test race integration bench peers lint chaos

build: ## the one binary, bin/troupe
	go build -trimpath -o bin/troupe ./cmd/node

test: ## what README promises: Go only, some minutes at most
	go test ./...

race: ## the same under the race detector
	go test -race ./...

integration: ## with kernel walls, servers and peers; a missing one is a failure
	go test -tags integration ./...

bench: ## the benchmarks of docs/performance.md
	go test ./tests/bench -run '^$$' -bench . -benchtime $(BENCHTIME)
	go test -tags integration ./actors/python/local ./actors/python/wasm -run '^$$' -bench Python -benchtime $(BENCHTIME)

peers: ## other frameworks on the same work, in a module of their own
	cd tests/bench/peers && go test -run '^$$' -bench . -benchtime $(BENCHTIME)

lint: $(GOLANGCI) ## vet, format, linters
	go vet ./...
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	$(GOLANGCI) run ./...

chaos: ## tests that kill actors and executors in mid-run, again and again
	go test -race -count 20 -run 'Kill|Crash|Panic|Adopt|Take|Restart|Interrupt|Lost|Loss|Dies' ./...

# The linter is built once, by the Go in use, into the cache folder.
$(GOLANGCI):
	GOBIN=$(patsubst %/,%,$(dir $@)) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
