# hitl-tui: one static binary, no cgo. `make test` is the test command of the README and of CI.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
RACE := $(shell command -v gcc >/dev/null 2>&1 && echo -race)

.PHONY: build test bench lint generate pictures cross snapshot

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/hitl-tui ./cmd/hitl-tui

# With a C compiler everything runs under the race detector, but for the commands: their tests start hundreds of processes, and
# what these do at the same time is tested where it is done. Without a C compiler it all runs the same.
test: lint
	go test $(RACE) -timeout 15m $$(go list ./... | grep -v /cmd/)
	go test -timeout 15m ./cmd/...

bench:
	CGO_ENABLED=0 go run ./bench

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	go vet ./...

# Compiles for every system that a release is built for.
cross:
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "$$os/$$arch"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build ./... || exit 1; \
	done; done

# Everything a release publishes, into dist/, unpublished. Needs syft for the lists of what is in it.
snapshot:
	go run github.com/goreleaser/goreleaser/v2@v2.15.1 release --snapshot --clean

# Rewrites what is generated from the code: docs/commands.md, docs/keys.md, docs/events.md, docs/payloads.md, docs/http.md, docs/json.md, docs/config.md, the tables of docs/workflows.md, docs/programs.md and docs/agentmap.md, schema/.
generate:
	go test ./cmd/hitl-tui ./internal/ui/command ./internal/workflow ./internal/engine ./internal/question ./internal/server -run 'Fresh' -update

# Draws the pictures of the README anew, docs/pictures/*.svg, from the real screens on an emulated terminal.
pictures:
	go test ./internal/ui -run TestPicturesAreFresh -update
