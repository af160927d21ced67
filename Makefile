# Rollcall. `make help` lists what can be made; `make up` and `make test` do all their set-up themselves.
# What is needed: Go, make, git and gcc. Everything else comes from the Go module proxy, pinned here, into bin/.

KUBERNETES_VERSION    := v1.37.1
CONTROLLER_GEN_VERSION := v0.23.0
GOLANGCI_LINT_VERSION := v2.14.0
GOTESTSUM_VERSION     := v1.13.0
HELM_VERSION          := v4.3.1
GOVULNCHECK_VERSION   := v1.8.0

GO     ?= go
BIN    := $(CURDIR)/bin
ASSETS := $(BIN)/assets
# Programs that the multi-call binary becomes under these names.
PROGRAMS := etcd kube-apiserver kube-controller-manager kube-scheduler kubectl node-simulator
# Extra arguments, as in `make up ARGS="--nodes 10"`.
ARGS   ?=

OPERATOR_SOURCES     := $(shell find api cmd internal -name '*.go' -not -name '*_test.go' 2>/dev/null) go.mod go.sum
LOCALCLUSTER_SOURCES := $(shell find localcluster \( -name '*.go' -o -name '*.yaml' \) -not -name '*_test.go') localcluster/go.mod localcluster/go.sum Makefile

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
KUBERNETES_LDFLAGS = -s -w \
	-X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION:v%=%)))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ Use

.PHONY: up
up: build ## Build what is missing, then run a local cluster with Rollcall until Ctrl-C (ARGS="--nodes 10 --detach")
	$(BIN)/rollcall-local up $(ARGS)

.PHONY: down
down: $(BIN)/rollcall-local ## Stop the local cluster that runs in this folder
	$(BIN)/rollcall-local down $(ARGS)

.PHONY: build
build: $(BIN)/rollcall $(BIN)/kubectl-rollcall $(BIN)/kubectl_complete-rollcall cluster ## Build everything into bin/

.PHONY: cluster
cluster: $(BIN)/rollcall-local $(BIN)/kubectl $(PROGRAMS:%=$(ASSETS)/%) ## Build the local control plane (minutes the first time)

##@ Develop

.PHONY: test
test: lint verify test-unit check-image test-integration ## Lint, verify generated files, and run all tests

.PHONY: test-unit
test-unit: $(BIN)/gotestsum $(BIN)/promtool ## Run the tests that need no cluster
	$(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) $$($(GO) list ./... | grep -v /test/)
	cd localcluster && $(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) ./nodes/... ./leash/...
	cd localcluster && $(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) ./differential -rapid.checks=1000
	cd test/monitoring && $(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) -count=1 ./... # what it tests is outside of its module
	cd hack/release && $(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) ./...

.PHONY: test-integration
test-integration: $(BIN)/gotestsum $(BIN)/helm build ## Run the tests on a real control plane
	$(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) -p 1 -timeout 30m ./test/...
	cd localcluster && $(BIN)/gotestsum $(TEST_FORMAT) -- $(TEST_FLAGS) -count=1 -timeout 10m ./test/... # what it tests is a program

TEST_FORMAT ?= --format pkgname-and-test-fails --hide-summary skipped
TEST_FLAGS  ?=

.PHONY: lint
lint: $(BIN)/golangci-lint ## Check style and architecture in all modules
	$(BIN)/golangci-lint run ./...
	cd localcluster && $(BIN)/golangci-lint run ./...
	cd test/monitoring && $(BIN)/golangci-lint run ./...
	cd hack/release && $(BIN)/golangci-lint run ./...

.PHONY: generate
generate: $(BIN)/controller-gen ## Regenerate deepcopy functions, CRD and API docs
	PATH="$(BIN):$$PATH" hack/generate.sh

.PHONY: verify
verify: $(BIN)/controller-gen $(BIN)/govulncheck ## Check that generated files and module files are fresh, and for known vulnerabilities
	PATH="$(BIN):$$PATH" hack/verify.sh
	hack/vulncheck.sh

.PHONY: check-image
check-image: ## Check that the container image is reproducible, by building it twice
	hack/check-image.sh

.PHONY: release
release: $(BIN)/helm ## Make a release in dist/: manifests, chart, image, plugin, bill of materials (VERSION=v0.1.0)
	VERSION=$(VERSION) hack/release.sh

.PHONY: verify-deep
verify-deep: ## Explore the planner with larger bounds, for hours; started again, it goes on where it was (PROFILES=deep takes ten minutes)
	for profile in $(PROFILES); do \
		$(GO) test ./internal/simulation -run TestExplore -profile $$profile -journal $(CURDIR)/deep.journal -timeout 0 -v || exit 1; \
	done

PROFILES ?= deep wide

.PHONY: mutants
mutants: ## Break the planner on purpose, in many ways, and see that the model checker notices
	$(GO) run ./hack/mutants

.PHONY: test-chaos
test-chaos: cluster ## Let everything go wrong around the operator for 20 minutes, and judge the history (ARGS="-seed 17")
	$(GO) test ./test/chaos -run TestChaos -long -v -timeout 90m $(ARGS)

.PHONY: bench
bench: build ## Measure side by side with the built-in controller (14 minutes; ARGS="-only '1 x 10' -rounds 1")
	@mkdir -p dist
	$(GO) run ./test/performance -out dist/performance.json $(ARGS)

.PHONY: bench-curve
bench-curve: build ## Measure what a pod costs among few and among thousands (6 minutes)
	@mkdir -p dist
	$(GO) run ./test/performance -suite curve -out dist/performance-curve.json $(ARGS)

.PHONY: bench-report
bench-report: ## Write the figures of the last `make bench` and `make bench-curve` into docs/performance.md
	$(GO) run ./test/performance/report -to docs dist/performance.json dist/performance-curve.json

.PHONY: bench-compute
bench-compute: ## Measure how long a decision takes, for sets of 1,000 and 10,000 pods
	$(GO) test ./internal/planner -run '^$$' -bench . -benchmem

.PHONY: fuzz
fuzz: cluster ## Feed planner, webhook, plan -f and API random input, each for FUZZTIME (the first build of the API's takes five minutes)
	$(GO) test ./internal/planner -run '^$$' -fuzz FuzzCompute -fuzztime $(FUZZTIME)
	$(GO) test ./internal/webhook -run '^$$' -fuzz FuzzMutating -fuzztime $(FUZZTIME)
	$(GO) test ./internal/webhook -run '^$$' -fuzz FuzzValidating -fuzztime $(FUZZTIME)
	$(GO) test ./internal/manifest -run '^$$' -fuzz FuzzManifest -fuzztime $(FUZZTIME)
	$(GO) test ./test/parity/api -run '^$$' -fuzz FuzzSpecParity -fuzztime $(FUZZTIME) -parallel 1

FUZZTIME ?= 3m

.PHONY: tools
tools: $(BIN)/controller-gen $(BIN)/golangci-lint $(BIN)/gotestsum $(BIN)/govulncheck $(BIN)/helm ## Build the tools that tests and releases need into bin/

.PHONY: clean
clean: ## Remove what was built, and the state of the local cluster
	rm -rf $(BIN) .rollcall

##@ Help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Programs of ours.

$(BIN)/rollcall: $(OPERATOR_SOURCES)
	$(GO) build -ldflags "-X github.com/rollcall-dev/rollcall/internal/operator.version=$(VERSION)" -o $@ ./cmd/rollcall

$(BIN)/kubectl-rollcall: $(OPERATOR_SOURCES)
	$(GO) build -ldflags "-s -w -X github.com/rollcall-dev/rollcall/internal/cli.version=$(VERSION)" -o $@ ./cmd/kubectl-rollcall

# kubectl asks the program of this name to complete command lines of the plugin.
$(BIN)/kubectl_complete-rollcall: | $(BIN)/kubectl-rollcall
	ln -sf kubectl-rollcall $@

$(BIN)/rollcall-local: $(LOCALCLUSTER_SOURCES)
	hack/build-cluster.sh "$(KUBERNETES_VERSION)" "$(KUBERNETES_LDFLAGS)" $@

$(BIN)/kubectl: | $(BIN)/rollcall-local
	ln -sf rollcall-local $@

$(PROGRAMS:%=$(ASSETS)/%): $(ASSETS)/%: | $(BIN)/rollcall-local
	@mkdir -p $(ASSETS)
	ln -sf ../rollcall-local $@

# By their short names, too: `make bin/promtool`.
bin/%: $(BIN)/% ;

# Tools, each built anew when its version changes here.

$(BIN)/controller-gen: $(BIN)/.controller-gen-$(CONTROLLER_GEN_VERSION)
$(BIN)/golangci-lint: $(BIN)/.golangci-lint-$(GOLANGCI_LINT_VERSION)
$(BIN)/gotestsum: $(BIN)/.gotestsum-$(GOTESTSUM_VERSION)
$(BIN)/helm: $(BIN)/.helm-$(HELM_VERSION)
$(BIN)/govulncheck: $(BIN)/.govulncheck-$(GOVULNCHECK_VERSION)

$(BIN)/.controller-gen-%:
	$(call install,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen@$*)
$(BIN)/.golangci-lint-%:
	@echo "Building golangci-lint: about two minutes the first time."
	$(call install,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$*)
$(BIN)/.gotestsum-%:
	$(call install,gotestsum,gotest.tools/gotestsum@$*)
$(BIN)/.helm-%:
	@echo "Building helm: about two minutes the first time."
	$(call install,helm,helm.sh/helm/v4/cmd/helm@$*)
$(BIN)/.govulncheck-%:
	$(call install,govulncheck,golang.org/x/vuln/cmd/govulncheck@$*)

# Prometheus can't be installed by version because of a replace directive; test/monitoring pins it. Without the tag, clients for
# two dozen clouds would be built, too.
$(BIN)/promtool: test/monitoring/go.mod test/monitoring/go.sum
	@echo "Building promtool: two to three minutes the first time."
	cd test/monitoring && $(GO) build -tags remove_all_sd -o $@ github.com/prometheus/prometheus/cmd/promtool

# install TOOL,PACKAGE: build a tool into bin/ and leave a stamp with its version.
define install
@mkdir -p $(BIN) && rm -f $(BIN)/.$(1)-*
GOBIN=$(BIN) $(GO) install $(2)
@touch $@
endef
