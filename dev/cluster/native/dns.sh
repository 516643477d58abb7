# shellcheck shell=bash
# DNS for a native cluster; the others bring their own. Sourced.

apply_dns() {
  sed -e "s|IMAGE$|registry.local/coredns:$(program_version coredns)|" \
    -e "s|DNS_ADDRESS|$service_prefix.0.10|" "$cluster_scripts/addons/coredns.yaml" |
    kubectl apply --filename - >/dev/null
}

dns_available() {
  [[ $(kubectl --namespace kube-system get deployment coredns -o 'jsonpath={.status.availableReplicas}') -ge 1 ]]
}

show_dns() { show_unready_pods kube-system; }
