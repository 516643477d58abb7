# shellcheck shell=bash
# Names, addresses and paths of one development cluster. Sourced by every script of this folder.
#
# CLUSTER       kind | native | current; by default kind where a Docker engine answers, else native
# CLUSTER_NAME  a second cluster beside the first needs its own name (default: dev; for CLUSTER=current: current)
# NODES         how many nodes to start, 1 to 9 (default: 2)
# KUBERNETES    a minor release that a native cluster is to run instead of the newest; it keeps the one it was made with

cluster_scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project_dir=$(cd "$cluster_scripts/../.." && pwd)
source "$project_dir/dev/setup/programs.sh"
source "$project_dir/dev/setup/waits.sh"

clusters_dir=${XDG_STATE_HOME:-$HOME/.local/state}/windlass/clusters
default_name=dev
[[ ${CLUSTER:-} == current ]] && default_name=current
cluster_name=${CLUSTER_NAME:-$default_name}
cluster_dir=$clusters_dir/$cluster_name
kubeconfig=$cluster_dir/kubeconfig

if [[ ! $cluster_name =~ ^[a-z][a-z0-9-]{0,15}$ ]]; then
  echo "CLUSTER_NAME '$cluster_name' is not usable: 1 to 16 of a-z, 0-9 and -, starting with a letter" >&2
  exit 1
fi
if [[ ! ${NODES:-2} =~ ^[1-9]$ ]]; then
  echo "NODES '$NODES' is not usable: a number from 1 to 9" >&2
  exit 1
fi

if [[ -z ${KUBERNETES:-} && -f $cluster_dir/kubernetes ]]; then
  KUBERNETES=$(<"$cluster_dir/kubernetes")
fi
export KUBERNETES=${KUBERNETES:-}
if [[ ! -d $(program_source kubernetes) ]]; then
  echo "KUBERNETES '$KUBERNETES' is not usable: dev/setup/go/kubernetes-* holds the releases beside the newest" >&2
  exit 1
fi

say() { echo "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

# Whether CLUSTER's answer, or the machine's, is kind, native or current. A cluster that is up keeps its kind.
cluster_kind() {
  if [[ -n ${CLUSTER:-} ]]; then
    echo "$CLUSTER"
  elif [[ -f $cluster_dir/kind ]]; then
    cat "$cluster_dir/kind"
  elif command -v docker >/dev/null && timeout 5 docker info >/dev/null 2>&1; then
    echo kind
  else
    echo native
  fi
}

kubectl() {
  "$(program_dir kubectl)/kubectl" --kubeconfig "$kubeconfig" "$@"
}
