# shellcheck shell=bash
# Makes an image of one layer without a container engine: a tar that `ctr images import`, `docker load` and
# `kind load image-archive` all accept. Sourced.

go_architecture() {
  case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
  esac
}

# usage: compile_go FOLDER OUTPUT
compile_go() {
  (cd "$1" && CGO_ENABLED=0 nice go build -trimpath -buildvcs=false -ldflags "-s -w" -o "$2" .)
}

# A root file system in which every applet of busybox can be called.
fill_busybox() {
  local root=$1 applet
  mkdir -p "$root"/{bin,dev,etc,home,proc,root,sys,tmp,usr,var}
  chmod 1777 "$root/tmp"
  cp "$(command -v busybox)" "$root/bin/busybox"
  for applet in $(busybox --list); do
    [[ $applet == busybox ]] || ln -s busybox "$root/bin/$applet"
  done
  ln -s bin "$root/sbin"
  ln -s ../bin "$root/usr/bin"
  ln -s ../bin "$root/usr/sbin"
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
}

# Packs a root folder. The same content gives the same bytes. usage: pack_image ROOT TAG CONFIG-JSON OUTPUT
pack_image() {
  local root=$1 tag=$2 config=$3 output=$4 parts digest
  parts=$(mktemp -d)
  tar --sort=name --numeric-owner --owner=0 --group=0 --mtime=@0 -C "$root" -cf "$parts/layer.tar" .
  digest=$(sha256sum "$parts/layer.tar" | cut -d' ' -f1)
  jq -n --argjson config "$config" --arg digest "sha256:$digest" --arg architecture "$(go_architecture)" '{
    architecture: $architecture, os: "linux", created: "1970-01-01T00:00:00Z", config: $config,
    rootfs: { type: "layers", diff_ids: [$digest] }, history: [{ created: "1970-01-01T00:00:00Z" }]
  }' >"$parts/config.json"
  jq -n --arg tag "$tag" '[{ Config: "config.json", RepoTags: [$tag], Layers: ["layer.tar"] }]' >"$parts/manifest.json"
  tar -C "$parts" -cf "$output" manifest.json config.json layer.tar
  rm -rf "$parts"
}
