# shellcheck shell=bash
# Brings a native cluster up from nothing, from half-way, or from the remains of a killed one. Sourced.
# Every step looks at what is there and adds what is missing.

source "$cluster_scripts/native/cluster.sh"
source "$cluster_scripts/native/load.sh"

base_images=(pause coredns busybox test-tools no-shell)

# After a boot nothing of the old cluster runs, and etcd, which does not sync, cannot be trusted.
forget_before_boot() {
  local boot
  boot=$(</proc/sys/kernel/random/boot_id)
  if [[ -f $cluster_dir/boot && $(<"$cluster_dir/boot") != "$boot" ]]; then
    say "the machine was started anew since the cluster was: starting with an empty one"
    find "$cluster_dir" -mindepth 1 -maxdepth 1 ! -name slot ! -name kind ! -name kubernetes -exec rm -rf {} +
  fi
  mkdir -p "$cluster_dir"
  echo "$boot" >"$cluster_dir/boot"
}

native_is_up() {
  [[ -f $cluster_dir/slot && -f $kubeconfig && -f $cluster_dir/complete ]] || return 1
  [[ -z ${NODES:-} || -d $(node_dir "$NODES") ]] || return 1
  all_processes_run && apiserver_ready >/dev/null && nodes_ready && dns_available
}

load_base_images() {
  # shellcheck disable=SC2046 # one word per path
  load_native $("$project_dir/dev/images/build" "${base_images[@]}")
}

native_up() {
  local count node
  ((EUID == 0)) || fail "a native cluster needs root: it makes network namespaces and cgroups"
  forget_before_boot
  use_addresses
  raise_inotify_limit
  if native_is_up; then
    load_base_images
    return
  fi
  "$project_dir/dev/setup/build" kubectl kubernetes containerd etcd coredns volume-provisioner
  rm -f "$cluster_dir/complete"
  count=$(node_numbers | tail -n 1)
  count=${NODES:-${count:-2}}
  for node in $(seq "$count"); do
    mkdir -p "$(node_dir "$node")"
  done
  say "starting a native cluster '$cluster_name' with $(node_numbers | wc -l) nodes …"
  make_cluster_certificates
  make_bridge
  start_store
  for node in $(node_numbers); do
    start_runtime "$node"
  done
  make_routes
  load_base_images
  wait_until 600 "the API server" apiserver_ready
  start_controllers
  for node in $(node_numbers); do
    start_agents "$node"
  done
  apply_dns
  apply_storage_classes
  start_volume_provisioner
  STATE=show_nodes wait_until 600 "all nodes to be Ready" nodes_ready
  STATE=show_dns wait_until 900 "cluster DNS" dns_available
  : >"$cluster_dir/complete"
}
