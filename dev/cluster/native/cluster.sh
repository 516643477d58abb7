# shellcheck shell=bash
# All parts of a native cluster, and what holds for it as a whole. Sourced.

for part in addresses process certificates network mounts cgroups control-plane node addons; do
  source "$cluster_scripts/native/$part.sh"
done

native_processes() {
  local node
  printf '%s\n' "${control_plane_processes[@]}"
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
