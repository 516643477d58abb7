# shellcheck shell=bash
# Makes a Service of the development cluster reachable on a port of this machine. Sourced, after settings.sh.

# usage: forward_port NAMESPACE SERVICE PORT; sets forwarded_port, and forward_pid, which the caller ends
forward_port() {
  local log
  log=$(mktemp)
  # Not the function of settings.sh: the id must be kubectl's own.
  "$(program_dir kubectl)/kubectl" --kubeconfig "$kubeconfig" --namespace "$1" port-forward "service/$2" ":$3" >"$log" 2>&1 &
  forward_pid=$!
  wait_until 30 "the forwarded port of $2" grep -q '^Forwarding from 127' "$log"
  forwarded_port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\).*/\1/p' "$log")
  rm -f "$log"
}
