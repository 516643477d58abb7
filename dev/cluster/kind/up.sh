# shellcheck shell=bash
# Brings up a kind cluster: one control plane node and NODES workers, or one node for both with NODES=1. Sourced.

source "$cluster_scripts/kind/cluster.sh"
source "$cluster_scripts/kind/load.sh"

# Nodes see the machine's volume folders under the same path, mounts that come later included.
kind_config() {
  local roles=(control-plane) role
  if ((${NODES:-2} > 1)); then
    for _ in $(seq "${NODES:-2}"); do
      roles+=(worker)
    done
  fi
  echo 'kind: Cluster'
  echo 'apiVersion: kind.x-k8s.io/v1alpha4'
  echo 'nodes:'
  for role in "${roles[@]}"; do
    echo "  - role: $role"
    echo '    extraMounts:'
    echo "      - { hostPath: $volumes_dir, containerPath: $volumes_dir, propagation: HostToContainer }"
  done
}

kind_up() {
  "$project_dir/dev/setup/build" kubectl kind volume-provisioner
  mkdir -p "$volumes_dir"
  if ! kind_exists; then
    kind_config | kind create cluster --name "$kind_name" --kubeconfig "$kubeconfig" --config - --wait 600s >&2
  fi
  # Docker may have given the API server another port since.
  kind export kubeconfig --name "$kind_name" --kubeconfig "$kubeconfig" >/dev/null 2>&1
  wait_until 600 "the API server" kubectl get --raw /readyz
  # shellcheck disable=SC2046 # one word per path
  load_kind $("$project_dir/dev/images/build" busybox test-tools no-shell)
  apply_storage_classes
  start_volume_provisioner
}
