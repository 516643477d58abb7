# shellcheck shell=bash
# Storage classes whose volumes are folders of this machine, for native and kind clusters. Sourced.

volumes_dir=$cluster_dir/volumes

start_volume_provisioner() {
  start_process volume-provisioner "$(program_dir volume-provisioner)/volume-provisioner" \
    --kubeconfig "$kubeconfig" --folder "$volumes_dir"
}

apply_storage_classes() {
  local provisioner=windlass.dev/host-folder
  # A class cannot be given another provisioner; kind comes with one of the same name that allows one node only.
  if [[ $(kubectl get storageclass standard --ignore-not-found --output 'jsonpath={.provisioner}') != "$provisioner" ]]; then
    kubectl delete storageclass standard --ignore-not-found >/dev/null
  fi
  kubectl apply --filename "$cluster_scripts/addons/storage.yaml" >/dev/null
}
