# shellcheck shell=bash
# Builds a Dockerfile without a Docker engine. Sourced.

# The base image is made locally, never pulled; --network host serves the build's `npm ci`, whose packages npm checks
# against the lock file.
buildah_build() {
  local tag=$1 other_tag=$2 output=$3 base bundle=/etc/ssl/certs/ca-certificates.crt trust=()
  local log=$cache_dir/buildah/build.log
  base=$("$images_dir/build" node)
  if [[ $(in_buildah images --quiet docker.io/library/node:24-bookworm-slim 2>/dev/null | wc -l) -eq 0 ||
    ! -f $cache_dir/buildah/$(basename "$base") ]]; then
    in_buildah pull --quiet "docker-archive:$base" >&2
    find "$cache_dir/buildah" -maxdepth 1 -name 'node-*.tar' -delete
    : >"$cache_dir/buildah/$(basename "$base")"
  fi
  # Behind a proxy that ends TLS the build has to trust what this machine trusts.
  if [[ -f $bundle ]]; then
    trust=(--volume "$bundle:$bundle:ro" --build-arg "NODE_EXTRA_CA_CERTS=$bundle")
  fi
  if ! in_buildah bud --pull-never --layers --network host "${trust[@]}" --tag "$tag" . >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  rm -f "$output"
  in_buildah push --quiet "$tag" "docker-archive:$output:$tag" >&2
  add_tag "$output" "$other_tag"
  forget_old_layers
}

# The layers of earlier builds save most of the next one, but each build adds some 250 MiB of them.
forget_old_layers() {
  (($(in_buildah images --all --quiet | wc -l) < 200)) || in_buildah rmi --all --force >/dev/null
}

in_buildah() {
  mkdir -p "$cache_dir/buildah"
  BUILDAH_ISOLATION=chroot STORAGE_DRIVER=overlay nice buildah --root "$cache_dir/buildah/storage" \
    --runroot "$cache_dir/buildah/run" "$@"
}

# Gives the image of an archive one more tag. Packed anew, since `tar --delete` damages the data behind the entry.
# usage: add_tag TAR TAG
add_tag() {
  local parts
  parts=$(mktemp -d)
  tar -C "$parts" -xf "$1"
  jq --arg tag "$2" '.[0].RepoTags += [$tag]' "$parts/manifest.json" >"$parts/new"
  mv "$parts/new" "$parts/manifest.json"
  jq -r '"manifest.json", .[0].Config, .[0].Layers[]' "$parts/manifest.json" | tar -C "$parts" -cf "$1" --files-from -
  rm -rf "$parts"
}
