# shellcheck shell=bash
# All parts of a native cluster, and what holds for it as a whole. Sourced.

source "$cluster_scripts/process.sh"
source "$cluster_scripts/volumes.sh"
for part in addresses certificates network mounts cgroups inotify control-plane node dns; do
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

# Whether a node has reported Ready since its kubelet was started: the condition of before stays True for a while.
node_ready() {
  local status heartbeat
  read -r status heartbeat < <(kubectl get node "node$1" --output \
    'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{"\n"}{end}')
  [[ $status == True && $(date -d "$heartbeat" +%s) -ge $(stat -c %Y "$cluster_dir/run/node$1-kubelet.pid") ]]
}

nodes_ready() {
  local node
  for node in $(node_numbers); do
    node_ready "$node" || return 1
  done
}
