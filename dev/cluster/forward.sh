# shellcheck shell=bash
# Makes a Service of the development cluster reachable on a port of this machine. Sourced, after settings.sh.

# usage: forward_port NAMESPACE SERVICE PORT; sets forwarded_port, and forward_pid, which the caller ends
forward_port() {
  local forward=("$@") log
  log=$(mktemp)
  start_forward
  STATE=show_forward wait_until 300 "the forwarded port of $2" forward_listens
  forwarded_port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\).*/\1/p' "$log")
  rm -f "$log"
}

start_forward() {
  # Not the function of settings.sh: the id must be kubectl's own.
  "$(program_dir kubectl)/kubectl" --kubeconfig "$kubeconfig" --namespace "${forward[0]}" \
    port-forward "service/${forward[1]}" ":${forward[2]}" >"$log" 2>&1 &
  forward_pid=$!
}

# kubectl ends at once where no pod of the Service is ready yet; another one is tried a second later.
forward_listens() {
  grep -q '^Forwarding from 127' "$log" && return
  if ! kill -0 "$forward_pid" 2>/dev/null; then
    sleep 1
    start_forward
  fi
  return 1
}

show_forward() { cat "$log"; }
