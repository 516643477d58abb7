# shellcheck shell=bash disable=SC2034
# The shell image of examples, tests and System states, from Debian's static busybox.
image_tag=docker.io/library/busybox:1.36
image_inputs=("$(command -v busybox)")
image_config='{"Cmd": ["sh"], "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}'

fill_root() {
  fill_busybox "$1"
}
