# shellcheck shell=bash
# Uses the cluster of the current kubeconfig. Sourced.

current_up() {
  "$project_dir/dev/setup/build" kubectl
  local found
  # Not the function of settings.sh: the user's own configuration is asked here.
  found=$("$(program_dir kubectl)/kubectl" config view --minify --flatten --raw 2>/dev/null) ||
    fail "the current kubeconfig has no current context: kubectl config use-context NAME"
  (umask 077 && echo "$found" >"$kubeconfig")
  wait_until 30 "the API server of the current kubeconfig" kubectl get --raw /readyz
}
