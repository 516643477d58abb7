# shellcheck shell=bash
# Which third-party programs the project builds from Go modules, and where each is once built. Sourced.
# A program's version is the one its own go.mod names; nothing else repeats it.
#
# KUBERNETES  a minor release of Kubernetes to run instead of the newest; go/kubernetes-* holds what there is

setup_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache_dir=${XDG_CACHE_HOME:-$HOME/.cache}/windlass

# The upstream module whose version names the program's folder in the cache.
program_module() {
  case $1 in
    kubernetes | kubectl) echo k8s.io/kubernetes ;;
    containerd) echo github.com/containerd/containerd/v2 ;;
    etcd) echo go.etcd.io/etcd/server/v3 ;;
    coredns) echo github.com/coredns/coredns ;;
    volume-provisioner) echo sigs.k8s.io/sig-storage-lib-external-provisioner/v13 ;;
    helm) echo helm.sh/helm/v4 ;;
    registry) echo github.com/distribution/distribution/v3 ;;
    rclone) echo github.com/rclone/rclone ;;
    nats-server) echo github.com/nats-io/nats-server/v2 ;;
    stripe-mock) echo github.com/stripe/stripe-mock ;;
    kind) echo sigs.k8s.io/kind ;;
    many-daemons) echo google.golang.org/grpc ;;
    argo-workflows) echo github.com/argoproj/argo-workflows/v3 ;;
    *) echo "unknown program '$1': dev/setup/programs.sh lists the known ones" >&2; return 1 ;;
  esac
}

# The folder of the Go module that builds the program.
program_source() {
  if [[ $1 == kubernetes && -n ${KUBERNETES:-} ]]; then
    echo "$setup_dir/go/kubernetes-$KUBERNETES"
  else
    echo "$setup_dir/go/$1"
  fi
}

program_version() {
  local module
  module=$(program_module "$1") || return 1
  awk -v module="$module" '{ sub(/^require /, "") } $1 == module { print $2; exit }' "$(program_source "$1")/go.mod"
}

# The folder that holds the program's binaries.
program_dir() {
  echo "$cache_dir/$1-$(program_version "$1")"
}

# Programs that report a version only when the linker sets it.
program_ldflags() {
  local version component
  version=$(program_version "$1")
  case $1 in
    kubernetes | kubectl)
      component=k8s.io/component-base/version
      IFS=. read -r _ minor _ <<<"$version"
      echo "-X $component.gitVersion=$version -X $component.gitMajor=1 -X $component.gitMinor=$minor -X $component.gitTreeState=clean"
      ;;
    helm) echo "-X helm.sh/helm/v4/internal/version.version=$version" ;;
    containerd) echo "-X github.com/containerd/containerd/v2/version.Version=$version" ;;
    registry) echo "-X github.com/distribution/distribution/v3/version.version=$version" ;;
    rclone) echo "-X github.com/rclone/rclone/fs.Version=$version" ;;
    argo-workflows) echo "-X github.com/argoproj/argo-workflows/v3.version=$version" ;;
  esac
}
