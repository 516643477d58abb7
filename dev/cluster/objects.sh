# shellcheck shell=bash
# Waits for objects of the development cluster, which end with the object's own state where they fail. Sourced, after
# settings.sh.

# The time of a slow machine for the start of a pod, with room to spare.
object_seconds=900

# usage: wait_for_condition NAMESPACE CONDITION KIND/NAME      CONDITION: as that of kubectl wait --for
wait_for_condition() {
  with_notes "$3 in $1" kubectl --namespace "$1" wait --for="$2" --timeout="${object_seconds}s" "$3" >/dev/null && return
  show_object "$1" "$3"
  fail "gave up waiting for $3 in $1 after $object_seconds s"
}

# Waits until an execution has a phase; fails at once where it ends in another. usage: wait_for_phase NAMESPACE PHASE KIND/NAME
wait_for_phase() {
  local phase=
  with_notes "the phase '$2' of $3 in $1" poll "$object_seconds" is_or_ended "$@" || true
  [[ $phase == "$2" ]] && return
  show_object "$1" "$3"
  fail "$3 in $1 is '${phase:-not begun}' instead of '$2'"
}

# Leaves the phase in `phase` of the caller.
is_or_ended() {
  phase=$(kubectl --namespace "$1" get "$3" --output 'jsonpath={.status.phase}') || return
  [[ $phase == "$2" || $phase =~ ^(completed|failed|cancelled)$ ]]
}

# usage: wait_for_deployment NAMESPACE NAME
wait_for_deployment() {
  with_notes "the deployment $2 in $1" \
    kubectl --namespace "$1" rollout status "deployment/$2" --timeout="${object_seconds}s" >/dev/null && return
  show_unready_pods "$1"
  fail "gave up waiting for the deployment $2 in $1 after $object_seconds s"
}

# Prints an object's row, and each of its conditions. usage: show_object NAMESPACE KIND/NAME
show_object() {
  kubectl --namespace "$1" get "$2" --output wide >&2 || true
  kubectl --namespace "$1" get "$2" --output \
    'jsonpath={range .status.conditions[*]}  {.type}={.status} {.reason}: {.message}{"\n"}{end}' >&2 || true
}

# Prints the pods of a namespace and, of each that is not ready, its events and the ends of its logs: of the container
# that runs, and of the one before it. usage: show_unready_pods NAMESPACE
show_unready_pods() {
  local namespace=$1 pod
  kubectl --namespace "$namespace" get pods --output wide >&2 || true
  for pod in $(unready_pods "$namespace"); do
    say "== pod $pod: events"
    kubectl --namespace "$namespace" get events --field-selector "involvedObject.name=$pod" \
      --sort-by=.lastTimestamp --no-headers 2>/dev/null | tail -n 8 >&2 || true
    say "== pod $pod: log"
    kubectl --namespace "$namespace" logs "$pod" --all-containers --tail 20 >&2 || true
    kubectl --namespace "$namespace" logs "$pod" --all-containers --tail 20 --previous 2>/dev/null |
      sed 's/^/before the restart: /' >&2 || true
  done
}

# Names of pods that are neither ready, nor done, nor about to be deleted. usage: unready_pods NAMESPACE
unready_pods() {
  kubectl --namespace "$1" get pods --output json | jq -r '.items[] | select(.status.phase != "Succeeded" and .metadata.deletionTimestamp == null)
    | select([.status.conditions[]? | select(.type == "Ready" and .status == "True")] | length == 0) | .metadata.name'
}
