# shellcheck shell=bash
# Puts image tars on every node of a native cluster. Sourced.

# How many builds of the project's image a node keeps; nothing else ever removes one.
kept_builds=3

# usage: load_on_node NODE TAR
load_on_node() {
  local node=$1 tar=$2 loaded
  loaded=$(node_dir "$node")/images
  mkdir -p "$loaded"
  [[ -f $loaded/$(basename "$tar") ]] && return 0
  ctr_node "$node" images import "$tar" >/dev/null
  : >"$loaded/$(basename "$tar")"
  forget_old_builds "$node" "$loaded"
}

# usage: forget_old_builds NODE FOLDER
forget_old_builds() {
  local old key
  find "$2" -name 'windlass-*.tar' -printf '%T@ %p\n' | sort -rn | tail -n "+$((kept_builds + 1))" | cut -d' ' -f2 |
    while read -r old; do
      key=$(basename "$old" .tar)
      ctr_node "$1" images rm "windlass.local/windlass:dev-${key#windlass-}" >/dev/null
      rm "$old"
    done
}

# A node that is stopped gets its images when the cluster is repaired.
load_native() {
  local tar node
  for node in $(node_numbers); do
    running_pid "node$node-containerd" >/dev/null || continue
    for tar in "$@"; do
      load_on_node "$node" "$tar"
    done
  done
}
