# shellcheck shell=bash
# One node: containerd, the kubelet and kube-proxy in namespaces of their own for network and mounts. Sourced.

# Where a node's programs run. The sbin folders hold runc, iptables and the mount helpers; containerd's holds its shim.
node_environment() {
  node_command=(
    nsenter "--net=/run/netns/$(node_netns "$1")" "--mount=$(node_mounts "$1")"
    env "PATH=$(program_dir containerd):/usr/local/sbin:/usr/sbin:/sbin:$PATH"
  )
}

write_containerd_config() {
  local node=$1 dir
  dir=$(node_dir "$node")
  # restrict_oom_score_adj: without CAP_SYS_RESOURCE (sandboxes, nested containers) runc dies when the kubelet asks for
  # a negative score. Plain HTTP is allowed to one registry, which tests may run on the bridge. By default containerd
  # asks each shim for its usage once a second, a fifth of an idle node's processor time; the kubelet takes cAdvisor's.
  cat >"$dir/containerd.toml" <<TOML
version = 3
root = "$dir/containerd"
state = "$dir/state"
# The default folder is made even when nothing is installed there.
[plugins.'io.containerd.internal.v1.opt']
  path = "$dir/opt"
[grpc]
  address = "$dir/containerd.sock"
# Its socket is one for the whole host, so plugins of one cluster would hear of the pods of all.
[plugins.'io.containerd.nri.v1.nri']
  disable = true
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "registry.local/pause:3.10"
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = "$dir/registries"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stats_collect_period = "1h"
  stats_retention_period = "2h"
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "$dir/cni"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
  BinaryName = "$(command -v runc)"
  SystemdCgroup = false
TOML
  mkdir -p "$dir/registries/$host_address:5000"
  echo "server = \"http://$host_address:5000\"" >"$dir/registries/$host_address:5000/hosts.toml"
}

write_cni_config() {
  local node=$1 dir
  dir=$(node_dir "$node")
  mkdir -p "$dir/cni"
  jq -n --arg subnet "$pod_prefix.$node.0/24" --arg leases "$dir/ipam" '{
    cniVersion: "1.0.0", name: "pods", plugins: [
      { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: false, hairpinMode: true,
        ipam: { type: "host-local", dataDir: $leases, ranges: [[{ subnet: $subnet }]], routes: [{ dst: "0.0.0.0/0" }] } },
      { type: "portmap", capabilities: { portMappings: true } }
    ] }' >"$dir/cni/10-bridge.conflist"
}

write_kubelet_config() {
  local node=$1 dir
  dir=$(node_dir "$node")
  # Images come from tar files, so nothing may collect them. Pods of a lost node are noticed sooner by a shorter lease.
  # Pods find no resolver but the cluster's: names of the outside world must not be asked for.
  : >"$dir/resolv.conf"
  cat >"$dir/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$(node_cgroup "$node")
containerRuntimeEndpoint: unix://$dir/containerd.sock
authentication:
  anonymous: { enabled: false }
  webhook: { enabled: true }
  x509: { clientCAFile: $pki/ca.crt }
authorization: { mode: Webhook }
tlsCertFile: $pki/node$node.crt
tlsPrivateKeyFile: $pki/node$node.key
clusterDNS: ["$service_prefix.0.10"]
clusterDomain: cluster.local
resolvConf: $dir/resolv.conf
failSwapOn: false
enforceNodeAllocatable: []
evictionHard: {}
imageGCHighThresholdPercent: 100
serializeImagePulls: false
nodeLeaseDurationSeconds: 16
kubeAPIQPS: 100
kubeAPIBurst: 200
maxPods: 250
YAML
}

start_containerd() {
  local node=$1 node_command
  node_environment "$node"
  start_process "node$node-containerd" "${node_command[@]}" \
    "$(program_dir containerd)/containerd" --config "$(node_dir "$node")/containerd.toml"
}

start_kubelet() {
  local node=$1 node_command
  node_environment "$node"
  start_process "node$node-kubelet" "${node_command[@]}" "$(program_dir kubernetes)/kubelet" \
    --config "$(node_dir "$node")/kubelet.yaml" --kubeconfig "$pki/node$node.kubeconfig" \
    --root-dir "$(node_dir "$node")/kubelet" --cert-dir "$(node_dir "$node")/certificates" \
    --hostname-override "node$node" --node-ip "$(node_address "$node")"
}

start_kube_proxy() {
  local node=$1 node_command
  node_environment "$node"
  # Releases before 1.31 have nftables behind a gate.
  start_process "node$node-proxy" "${node_command[@]}" "$(program_dir kubernetes)/kube-proxy" \
    --kubeconfig "$pki/proxy.kubeconfig" --hostname-override "node$node" --cluster-cidr "$pod_prefix.0.0/16" \
    --proxy-mode nftables ${KUBERNETES:+--feature-gates NFTablesProxyMode=true} --conntrack-max-per-core 0
}

containerd_ready() { ctr_node "$1" version; }

# usage: ctr_node NODE ARGUMENTS...
ctr_node() {
  local node=$1
  shift
  # It warns of cgroup v1 at every call.
  "$(program_dir containerd)/ctr" --address "$(node_dir "$node")/containerd.sock" --namespace k8s.io "$@" \
    2> >(grep -v DEPRECATION >&2)
}

# Everything of a node that runs: what is in its network namespace, and its containers, which have their own.
node_pids() {
  {
    ip netns pids "$(node_netns "$1")" 2>/dev/null || true
    node_cgroup_pids "$1"
  } | sort -un
}

# Kills every process of a node at once.
kill_node() {
  local pids deadline=$((SECONDS + 20))
  while pids=$(node_pids "$1") && [[ -n $pids ]]; do
    # shellcheck disable=SC2086 # one word per pid
    kill -KILL $pids 2>/dev/null || true
    ((SECONDS < deadline)) || fail "processes of node$1 do not die: $pids"
    sleep 0.1
  done
  rm -f "$cluster_dir/run/node$1"-*.pid
}

prepare_node() {
  mkdir -p "$(node_dir "$1")"
  make_node_certificates "$1"
  make_node_network "$1"
  make_node_mounts "$1"
  make_node_cgroup "$1"
  write_containerd_config "$1"
  write_cni_config "$1"
  write_kubelet_config "$1"
}

# Starts a prepared or stopped node's container runtime; the kubelet follows once its images are there.
start_runtime() {
  prepare_node "$1"
  start_containerd "$1"
  wait_until 300 "containerd of node$1" containerd_ready "$1"
}

start_agents() {
  start_kubelet "$1"
  start_kube_proxy "$1"
}

# As a power cut: every process dies at once, mounts and network are gone, disks stay.
cut_power() {
  kill_node "$1"
  remove_node_mounts "$1"
  remove_node_network "$1"
}
