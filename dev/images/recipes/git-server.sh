# shellcheck shell=bash disable=SC2034
# A git server for tests: git's own http-backend behind nginx and fcgiwrap, and OpenSSH's server.
image_tag=windlass.local/git-server:dev
image_config='{"Cmd": ["sh"], "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}'

fill_root() {
  mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --include=git,nginx-light,fcgiwrap,openssh-server,openssl bookworm "$1" >&2
  chroot "$1" useradd --uid 65532 --user-group --no-create-home --home-dir /srv --shell /bin/sh git
}
