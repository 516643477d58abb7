# shellcheck shell=bash
# What a usable cluster has beyond Kubernetes' own processes: DNS and storage classes. Sourced.

apply_addons() {
  sed -e "s|IMAGE$|registry.local/coredns:$(program_version coredns)|" \
    -e "s|DNS_ADDRESS|$service_prefix.0.10|" "$cluster_scripts/addons/coredns.yaml" |
    kubectl apply --filename - --filename "$cluster_scripts/addons/storage.yaml" >/dev/null
}

dns_available() {
  [[ $(kubectl --namespace kube-system get deployment coredns -o 'jsonpath={.status.availableReplicas}') -ge 1 ]]
}
