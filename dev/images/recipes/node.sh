# shellcheck shell=bash disable=SC2034
# The base image of the project's Dockerfile under its public name, made from Debian packages and the npm packages
# `node` and `npm`, for machines that cannot or should not pull it.
node_version=$(jq -r '.packages["node_modules/node"].version' "$project_dir/package-lock.json")
npm_version=11.21.2
image_tag=docker.io/library/node:24-bookworm-slim
image_versions="$node_version $npm_version"
image_config='{"Cmd": ["node"], "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}'

fill_root() {
  local root=$1
  mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$root" >&2
  chroot "$root" useradd --uid 1000 --create-home --shell /bin/bash node
  install -m 755 "$project_dir/node_modules/node/bin/node" "$root/usr/local/bin/node"
  # A prefix moves npm's global configuration as well, and with it the authorities that this machine trusts.
  npm install --global --prefix "$root/usr/local" --globalconfig "$(npm config get globalconfig)" --loglevel=error --no-fund --no-audit "npm@$npm_version" >&2
  # Runs now, so that a broken image is found here and not in a build that uses it.
  chroot "$root" npm --version >&2
}
