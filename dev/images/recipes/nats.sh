# shellcheck shell=bash disable=SC2034
# The event bus's server under its public name and laid out as there: `/nats-server` is all it holds.
image_tag=docker.io/library/nats:$(version=$(program_version nats-server) && echo "${version#v}")
image_inputs=("$(program_dir nats-server)/.fingerprint")
image_config='{"Entrypoint": ["/nats-server"], "Cmd": ["--config", "nats-server.conf"], "Env": ["PATH=/"]}'

fill_root() {
  cp "$(program_dir nats-server)/nats-server" "$1/nats-server"
}
