# shellcheck shell=bash
# All parts of a native cluster, and what holds for it as a whole. Sourced.

source "$cluster_scripts/process.sh"
source "$cluster_scripts/volumes.sh"
for part in addresses certificates network mounts cgroups control-plane node dns; do
  source "$cluster_scripts/native/$part.sh"
done

native_processes() {
  local node
  printf '%s\n' "${control_plane_processes[@]}" volume-provisioner
  for node in $(node_numbers); do
    printf '%s\n' "node$node-containerd" "node$node-kubelet" "node$node-proxy"
  done
}

all_processes_run() {
  local name
  for name in $(native_processes); do
    running_pid "$name" >/dev/null || return 1
  done
}

nodes_ready() {
  local ready
  ready=$(kubectl get nodes -o 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}')
  [[ $(grep -o True <<<"$ready" | wc -l) -eq $(node_numbers | wc -l) ]]
}
