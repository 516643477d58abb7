# shellcheck shell=bash
# Shared functions of the fault commands (node, kubelet, apiserver, etcd). Sourced.

source "$cluster_scripts/settings.sh"
source "$cluster_scripts/native/cluster.sh"

[[ -f $cluster_dir/kind && $(<"$cluster_dir/kind") == native ]] ||
  fail "faults can be made on a native cluster only, and '$cluster_name' is $(cat "$cluster_dir/kind" 2>/dev/null || echo 'not up')"
use_addresses

# usage: require_node NUMBER
require_node() {
  [[ -n ${1:-} && -d $(node_dir "$1") ]] || fail "no node '${1:-}': this cluster has $(node_numbers | paste -sd ' ')"
}
