# shellcheck shell=bash
# Where everything of a native cluster listens. Sourced.
#
# Each cluster of a machine has a slot, a number from 0 to 9 that no other one has; addresses and ports follow from it.
#
#   bridge 172.30.(99-slot).0/24   host .1, node N .1N
#   pods   10.(244-slot).N.0/24    one subnet a node
#   services 10.(96+slot).0.0/16   API server .0.1, DNS .0.10

# The cluster's slot; a new cluster takes the lowest one that is free.
cluster_slot() {
  if [[ ! -f $cluster_dir/slot ]]; then
    mkdir -p "$cluster_dir"
    (
      flock 8
      taken=" $(cat "$clusters_dir"/*/slot 2>/dev/null | tr '\n' ' ')"
      for slot in {0..9}; do
        # Another user's cluster, or one of another state folder, is known by its bridge only.
        [[ $taken == *" $slot "* || -e /sys/class/net/windlass$slot ]] && continue
        echo "$slot" >"$cluster_dir/slot"
        break
      done
    ) 8>"$clusters_dir/.slots.lock"
    [[ -f $cluster_dir/slot ]] || fail "ten clusters are up already: take one down (CLUSTER_NAME=… make down)"
  fi
  cat "$cluster_dir/slot"
}

use_addresses() {
  slot=$(cluster_slot)
  bridge=windlass$slot
  bridge_prefix=172.30.$((99 - slot))
  host_address=$bridge_prefix.1
  pod_prefix=10.$((244 - slot))
  service_prefix=10.$((96 + slot))
  api_port=$((6443 + 10 * slot))
  etcd_port=$((api_port + 1))
  etcd_peer_port=$((api_port + 2))
  controller_manager_port=$((api_port + 3))
  scheduler_port=$((api_port + 4))
  api_url=https://$host_address:$api_port
  etcd_url=http://127.0.0.1:$etcd_port
}

node_address() { echo "$bridge_prefix.1$1"; }
node_dir() { echo "$cluster_dir/node$1"; }
node_netns() { echo "windlass-$cluster_name-node$1"; }
node_cgroup() { echo "windlass-$cluster_name-node$1"; }
# An interface name has at most 15 characters, hence the slot and not the cluster's name.
node_veth() { echo "windlass$slot-n$1"; }

# The numbers of the nodes this cluster has, in order.
node_numbers() {
  local dir
  for dir in "$cluster_dir"/node[1-9]; do
    [[ -d $dir ]] && echo "${dir##*node}"
  done
  return 0
}

# Runs a command in a node's network. Not `ip netns exec`: that mounts a fresh /sys and hides the cgroups.
in_node() {
  local node=$1
  shift
  nsenter --net="/run/netns/$(node_netns "$node")" "$@"
}
