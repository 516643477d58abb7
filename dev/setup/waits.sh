# shellcheck shell=bash
# Waits that say what they wait for, so that a slow machine is not taken for one that hangs. Sourced.
#
# NOTE_SECONDS  how often a wait says so (default: 15)

# Says from now on how long the script has waited, until end_notes or the end of the script. usage: begin_notes WHAT
begin_notes() {
  write_notes "$1" >/dev/null &
  notes_pid=$!
}

end_notes() {
  kill "$notes_pid" 2>/dev/null || true
  wait "$notes_pid" 2>/dev/null || true
}

write_notes() {
  local what=$1 started=$SECONDS every=${NOTE_SECONDS:-15} silence next
  next=$((started + every))
  # A read that gets nothing: a `sleep` would outlive this process and keep the script's output open.
  exec {silence}<> <(:)
  while kill -0 "$$" 2>/dev/null; do
    read -rt 1 -u "$silence" || true
    ((SECONDS >= next)) || continue
    next=$((SECONDS + every))
    echo "still waiting for $what ($((SECONDS - started)) s so far) …" >&2
  done
}

# Runs a command, and says in between what it waits for. A function runs without `set -e`. usage: with_notes WHAT COMMAND...
with_notes() {
  local what=$1 status=0
  shift
  begin_notes "$what"
  "$@" || status=$?
  end_notes
  return "$status"
}

# Polls a command every 0.1 s, and once a second after ten seconds; fails after SECONDS. usage: poll SECONDS COMMAND...
poll() {
  local started=$SECONDS seconds=$1 pause
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS - started < seconds)) || return 1
    pause=0.1
    ((SECONDS - started < 10)) || pause=1
    sleep "$pause"
  done
}

# Polls a command, says in between what it waits for, and ends the script where it gives up.
# usage: [STATE=COMMAND] wait_until SECONDS WHAT COMMAND...
#
# STATE  prints the state of what was awaited, before the script ends; in one word
wait_until() {
  local seconds=$1 what=$2
  shift 2
  with_notes "$what" poll "$seconds" "$@" && return
  echo "gave up waiting for $what after $seconds s" >&2
  [[ -z ${STATE:-} ]] || "$STATE" >&2 || true
  echo "For the logs of the cluster: ${CLUSTER_NAME:+CLUSTER_NAME=$CLUSTER_NAME }dev/cluster/logs" >&2
  exit 1
}
