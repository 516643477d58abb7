# shellcheck shell=bash disable=SC2034
# The first process of every step, mounted into its pod from this image.
image_tag=windlass.local/runner:dev
mapfile -t image_inputs < <(find "$project_dir/runner" -type f \( -name '*.go' ! -name '*_test.go' -o -name '*.s' -o -name '*.txt' -o -name go.mod \) | sort)
image_config='{"Entrypoint": ["/runner"], "User": "65532:65532"}'

fill_root() {
  compile_go "$project_dir/runner" "$1/runner"
}
