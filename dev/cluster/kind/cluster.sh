# shellcheck shell=bash
# A cluster whose nodes are containers of a Docker engine. Sourced.

source "$cluster_scripts/process.sh"
source "$cluster_scripts/volumes.sh"

kind_name=windlass-$cluster_name

kind() { "$(program_dir kind)/kind" "$@"; }

kind_exists() { kind get clusters 2>/dev/null | grep -qx "$kind_name"; }
