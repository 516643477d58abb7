# shellcheck shell=bash disable=SC2034
# The cluster's DNS server.
image_tag=registry.local/coredns:$(program_version coredns)
image_inputs=("$(program_dir coredns)/.fingerprint")
image_config='{"Entrypoint": ["/coredns"], "User": "65532:65532"}'

fill_root() {
  cp "$(program_dir coredns)/coredns" "$1/coredns"
}
