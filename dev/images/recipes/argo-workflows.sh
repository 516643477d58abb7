# shellcheck shell=bash disable=SC2034
# The executor of Argo Workflows, which the benchmark measures beside Windlass: init and wait containers of its pods.
image_tag=windlass.local/argoexec:$(program_version argo-workflows)
image_inputs=("$(program_dir argo-workflows)/.fingerprint")
image_config='{"Entrypoint": ["argoexec"], "Env": ["PATH=/bin"], "User": "8737:8737"}'

fill_root() {
  mkdir -p "$1/bin" "$1/tmp"
  chmod 1777 "$1/tmp"
  cp "$(program_dir argo-workflows)/argoexec" "$1/bin/argoexec"
}
