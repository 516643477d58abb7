# shellcheck shell=bash
# A control group of its own for each node, in every hierarchy. Sourced.
# Two kubelets that share a root kill each other's pods as orphans.

# The mount points of the cgroup hierarchies: one on cgroup v2, one per controller on v1 and hybrid machines.
cgroup_hierarchies() {
  if [[ -f /sys/fs/cgroup/cgroup.procs ]]; then
    echo /sys/fs/cgroup
    return
  fi
  local dir
  for dir in /sys/fs/cgroup/*/; do
    [[ -f $dir/cgroup.procs ]] && echo "${dir%/}"
  done
}

make_node_cgroup() {
  local hierarchy group file
  for hierarchy in $(cgroup_hierarchies); do
    group=$hierarchy/$(node_cgroup "$1")
    mkdir -p "$group"
    # A v1 cpuset starts empty and then accepts no process.
    for file in cpuset.cpus cpuset.mems; do
      if [[ $hierarchy != /sys/fs/cgroup && -f $group/$file && -z $(<"$group/$file") ]]; then
        cat "$hierarchy/$file" >"$group/$file"
      fi
    done
  done
}

# The pids of everything that runs in the node's containers.
node_cgroup_pids() {
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do
    [[ -d $hierarchy/$(node_cgroup "$1") ]] || continue
    find "$hierarchy/$(node_cgroup "$1")" -name cgroup.procs -exec cat {} + 2>/dev/null || true
  done | sort -u
}

remove_node_cgroup() {
  local hierarchy group deadline=$((SECONDS + 10))
  for hierarchy in $(cgroup_hierarchies); do
    group=$hierarchy/$(node_cgroup "$1")
    # Busy for a moment after its last process has died.
    while [[ -d $group ]] && ! find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; do
      ((SECONDS < deadline)) || fail "cgroup $group is still in use"
      sleep 0.1
    done
  done
}
