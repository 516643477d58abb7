# shellcheck shell=bash
# One line for each process of a native cluster. Sourced.

source "$cluster_scripts/native/cluster.sh"

# usage: process_line NAME; fails when the process does not run
process_line() {
  local name=$1 pid memory
  if ! pid=$(running_pid "$name"); then
    printf '%-22s %-9s %8s %10s  %s\n' "$name" stopped - - "$cluster_dir/log/$name.log"
    return 1
  fi
  memory=$(awk '$1 == "VmRSS:" { printf "%d MiB", $2 / 1024 }' "/proc/$pid/status")
  printf '%-22s %-9s %8s %10s  %s\n' "$name" running "$pid" "$memory" "$cluster_dir/log/$name.log"
}

native_status() {
  local name whole=0
  use_addresses
  printf '%-12s %s\n\n' API "$api_url"
  printf '%-22s %-9s %8s %10s  %s\n' PROCESS STATE PID MEMORY LOG
  for name in $(native_processes); do
    process_line "$name" || whole=1
  done
  return "$whole"
}
