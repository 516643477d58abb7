# shellcheck shell=bash
# Puts image tars on every node of a kind cluster. Sourced.

source "$cluster_scripts/kind/cluster.sh"

load_kind() {
  local tar loaded=$cluster_dir/images
  mkdir -p "$loaded"
  for tar in "$@"; do
    [[ -f $loaded/$(basename "$tar") ]] && continue
    kind load image-archive --name "$kind_name" "$tar" >&2
    : >"$loaded/$(basename "$tar")"
  done
}
