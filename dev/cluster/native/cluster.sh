# shellcheck shell=bash
# All parts of a native cluster, and what holds for it as a whole. Sourced.

source "$cluster_scripts/process.sh"
source "$cluster_scripts/volumes.sh"
source "$cluster_scripts/objects.sh"
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

# Whether the nodes, or one of them, have reported Ready since their kubelets were started: the condition of before stays
# True for a while. usage: nodes_ready [NUMBER]
nodes_ready() {
  local reports node status heartbeat
  reports=$(kubectl get nodes --output \
    'jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="Ready")].lastHeartbeatTime}{"\n"}{end}')
  for node in ${1:-$(node_numbers)}; do
    read -r status heartbeat < <(sed -n "s/^node$node //p" <<<"$reports") || return 1
    [[ $status == True ]] || return 1
    (($(date -d "$heartbeat" +%s) >= $(stat -c %Y "$cluster_dir/run/node$node-kubelet.pid"))) || return 1
  done
}

show_nodes() { kubectl get nodes --output wide; }
