# shellcheck shell=bash disable=SC2034
# The image of the pods of git bindings, as Dockerfile.git makes it: Debian's git with ssh and authorities.
image_tag=windlass.local/git:dev
image_inputs=("$project_dir/Dockerfile.git")
image_config='{"Cmd": ["git"], "User": "65532:65532", "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}'

fill_root() {
  mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --include=git,openssh-client,ca-certificates bookworm "$1" >&2
  chroot "$1" useradd --uid 65532 --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin windlass
  chroot "$1" git --version >&2
}
