# shellcheck shell=bash
# The cluster's network: a bridge of the host, a network namespace per node, and routes. Sourced.
#
#   host ── bridge ─┬─ veth ── node1 ── cni0 ── pods of node1
#                   └─ veth ── node2 ── cni0 ── pods of node2
#
# No packet for a cluster address may leave the machine: the host has an unreachable route for the service range, the
# nodes an unreachable default route.

make_bridge() {
  ip link show "$bridge" >/dev/null 2>&1 || ip link add "$bridge" type bridge
  ip address replace "$host_address/24" dev "$bridge"
  ip link set "$bridge" up
  ip route replace unreachable "$service_prefix.0.0/16"
}

make_node_network() {
  local node=$1 netns veth
  netns=$(node_netns "$node")
  veth=$(node_veth "$node")
  [[ -e /run/netns/$netns ]] || ip netns add "$netns"
  # A half-made pair is thrown away: deleting either end deletes both.
  if ! in_node "$node" ip link show eth0 >/dev/null 2>&1; then
    ip link delete "$veth" 2>/dev/null || true
    ip link add "$veth" type veth peer name eth0 netns "$netns"
  fi
  ip link set "$veth" master "$bridge" up
  in_node "$node" ip link set lo up
  in_node "$node" ip address replace "$(node_address "$node")/24" dev eth0
  in_node "$node" ip link set eth0 up
  in_node "$node" sysctl -qw net.ipv4.ip_forward=1
  in_node "$node" ip route replace unreachable default metric 9999
}

# Every node and the host reach the pods of each node through that node.
make_routes() {
  local node other
  for node in $(node_numbers); do
    ip route replace "$pod_prefix.$node.0/24" via "$(node_address "$node")"
    for other in $(node_numbers); do
      [[ $node == "$other" ]] && continue
      in_node "$node" ip route replace "$pod_prefix.$other.0/24" via "$(node_address "$other")"
    done
  done
}

# The kernel frees a namespace, and with it the veth pair, some time after its last user is gone: hence both.
remove_node_network() {
  if [[ -e /run/netns/$(node_netns "$1") ]]; then
    ip netns delete "$(node_netns "$1")"
  fi
  ip link delete "$(node_veth "$1")" 2>/dev/null || true
}

# The routes to the pods go with the bridge.
remove_bridge() {
  ip link delete "$bridge" 2>/dev/null || true
  ip route delete unreachable "$service_prefix.0.0/16" 2>/dev/null || true
}
