# shellcheck shell=bash disable=SC2034
# An image that holds one static program and nothing else: no shell, no /etc, no /tmp.
image_tag=windlass.local/no-shell:dev
image_inputs=("$images_dir"/emit/*.go)
image_config='{"Entrypoint": ["/emit"]}'

fill_root() {
  compile_go "$images_dir/emit" "$1/emit"
}
