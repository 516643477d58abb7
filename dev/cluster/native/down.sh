# shellcheck shell=bash
# Takes a native cluster down, whatever state it is in, and leaves nothing of it behind. Sourced.

source "$cluster_scripts/native/cluster.sh"

native_down() {
  local node name
  use_addresses
  for node in $(node_numbers); do
    stop_process "node$node-kubelet"
    cut_power "$node"
    remove_node_cgroup "$node"
  done
  for name in volume-provisioner "${control_plane_processes[@]}"; do
    stop_process "$name"
  done
  remove_bridge
  remove_cluster_mounts
  restore_inotify_limit
}
