# shellcheck shell=bash disable=SC2034
# busybox and `emit`, a program that writes what capture tests ask for at a speed no shell loop reaches.
image_tag=windlass.local/test-tools:dev
image_inputs=("$(command -v busybox)" "$images_dir"/emit/*.go)
image_config='{"Cmd": ["sh"], "Env": ["PATH=/bin"]}'

fill_root() {
  fill_busybox "$1"
  compile_go "$images_dir/emit" "$1/bin/emit"
}
