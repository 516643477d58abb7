# shellcheck shell=bash
# A mount namespace for each node. Sourced.
#
# Kubelet, containerd, its shims and the CNI plugins keep state in fixed folders (pod logs, sockets, results). Nodes of
# one machine would share them, and one kubelet would clear away the pod logs of another. Each node therefore has its
# own, and whatever a node mounts is gone when its namespace is.

node_mounts() { echo "$cluster_dir/mounts/node$1"; }

private_folders=(/run/containerd /var/lib/cni /var/lib/kubelet /var/log/containers /var/log/pods)

is_mount_point() { mountpoint --quiet "$1"; }

# usage: make_mount_point FOLDER PROPAGATION
make_mount_point() {
  mkdir -p "$1"
  is_mount_point "$1" && return 0
  mount --bind "$1" "$1"
  mount "--make-$2" "$1"
}

make_node_mounts() {
  local node=$1 folder
  # Size-limited volumes are mounted outside and must appear inside, so their parent is shared; the file that keeps a
  # namespace alive must be on a private mount.
  make_mount_point "$volumes_dir" shared
  make_mount_point "$cluster_dir/mounts" private
  is_mount_point "$(node_mounts "$node")" && return 0
  touch "$(node_mounts "$node")"
  unshare --mount="$(node_mounts "$node")" --propagation slave true
  for folder in "${private_folders[@]}"; do
    mkdir -p "$folder" "$(node_dir "$node")/private$folder"
    nsenter --mount="$(node_mounts "$node")" mount --bind "$(node_dir "$node")/private$folder" "$folder"
  done
}

# Removes the namespace, and with it what a reboot would have cleared.
remove_node_mounts() {
  if is_mount_point "$(node_mounts "$1")"; then
    umount "$(node_mounts "$1")"
  fi
  rm -rf "$(node_mounts "$1")" "$(node_dir "$1")/state" "$(node_dir "$1")/private/run"
}

# Mount points of the whole cluster, size-limited volumes among them, innermost first.
remove_cluster_mounts() {
  local folder
  findmnt --list --noheadings --output TARGET | { grep -F "$cluster_dir/" || true; } | sort -r | while read -r folder; do
    umount "$folder"
  done
}
