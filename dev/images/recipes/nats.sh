# shellcheck shell=bash disable=SC2034
# The event bus's server under its public name, with the shell and the `nc` that its probes run, as the `alpine` image.
image_tag=docker.io/library/nats:$(version=$(program_version nats-server) && echo "${version#v}")-alpine
image_inputs=("$(program_dir nats-server)/.fingerprint" "$(command -v busybox)")
image_config='{"Entrypoint": ["nats-server"], "Cmd": ["--config", "nats-server.conf"], "Env": ["PATH=/usr/local/bin:/bin"]}'

fill_root() {
  fill_busybox "$1"
  mkdir -p "$1/usr/local/bin"
  cp "$(program_dir nats-server)/nats-server" "$1/usr/local/bin/nats-server"
}
