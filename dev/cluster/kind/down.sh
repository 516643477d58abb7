# shellcheck shell=bash
# Removes a kind cluster. Sourced.

source "$cluster_scripts/kind/cluster.sh"

kind_down() {
  stop_process volume-provisioner
  kind delete cluster --name "$kind_name" --kubeconfig "$kubeconfig" >&2
}
