# shellcheck shell=bash disable=SC2034
# The sandbox container of every pod.
image_tag=registry.local/pause:3.10
image_inputs=("$images_dir/pause/main.go")
image_config='{"Entrypoint": ["/pause"], "User": "65535:65535"}'

fill_root() {
  compile_go "$images_dir/pause" "$1/pause"
}
