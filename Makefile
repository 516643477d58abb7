# Everything is started from here; `make help` lists what there is.
#
#   CLUSTER       kind | native | current (see dev/README.md)
#   CLUSTER_NAME  a second development cluster beside the first (default dev)
#   NODES         nodes of a new cluster (default 2)
#   KUBERNETES    1.30: the oldest release that the chart claims, for a new native cluster (default: the newest)
#   NAME          what `make logs` shows: a process or a deployment
#   ARGO          1: `make bench` measures beside Argo Workflows
#   PREFIX        where `make cli` installs (default ~/.local)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The Node release the project is developed on comes with the npm packages.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
export CLUSTER CLUSTER_NAME NODES KUBERNETES PREFIX

.PHONY: help demo cli test verify bench up down status logs image setup

help: ## List the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 10

demo: ## Run an example workflow on real pods and print its output
	@dev/demo/run

cli: ## Install the command windlass into ~/.local/bin; PREFIX=/usr/local installs it for everybody
	@dev/setup/node
	@dev/build/install-cli

test: ## Run every test: unit, contract, and on the cluster; STAGES="unit go" runs only these
	@dev/test/run $(STAGES)

verify: ## Regenerate, check format, lint and types, run unit and Go tests; then the git tree must be clean
	@dev/verify/run

bench: up ## Measure speed and size beside bare pods, or with ARGO=1 beside Argo Workflows, and write docs/benchmarks.md; ARGS=--help tells more
	@dev/setup/node
	@dev/setup/build helm
	@dev/bench/run $(if $(ARGO),--argo) $(ARGS)

up: ## Start or repair the development cluster
	@dev/setup/packages
	@dev/cluster/up

down: ## Take the development cluster down; leaves nothing running
	@dev/cluster/down

status: ## Say what runs, and where its logs and credentials are
	@dev/cluster/status

logs: ## Show logs of everything, or of one: make logs NAME=apiserver
	@dev/cluster/logs $(NAME)

image: ## Build the project's images and load them into the cluster
	@dev/setup/packages
	@dev/setup/node
	@dev/images/build-project --load

setup: ## Install and build everything that any target needs
	@dev/setup/packages
	@dev/setup/node
	@dev/setup/build kubectl kubernetes containerd etcd coredns volume-provisioner helm registry rclone nats-server stripe-mock many-daemons
