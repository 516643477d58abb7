# shellcheck shell=bash
# Python programs in virtual environments of their own, once per machine and set of versions. Sourced.

venv_setup_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Installs what python/NAME.txt pins and prints the folder. PROBE is a program of it that shows that it works.
# usage: install_venv NAME PACKAGE PROBE...     PACKAGE is the one whose version names the folder
install_venv() {
  local name=$1 package=$2 requirements cache_dir venv want
  requirements=$venv_setup_dir/python/$name.txt
  cache_dir=${XDG_CACHE_HOME:-$HOME/.cache}/windlass
  venv=$cache_dir/$name-$(sed -n "s/^$package==//p" "$requirements")
  want=$(sha256sum <"$requirements" | cut -d' ' -f1)
  mkdir -p "$cache_dir"
  exec 9>"$cache_dir/.$name.lock"
  flock 9
  if ! venv_is_installed "$venv" "$want" "${@:3}"; then
    echo "installing $package (once per machine) …" >&2
    # A virtual environment cannot be moved, so a failed attempt is cleared in its place.
    python3 -m venv --clear "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$requirements" >&2
    "$venv/bin/pip" check >&2
    echo "$want" >"$venv/.requirements"
  fi
  echo "$venv"
}

venv_is_installed() {
  [[ -f $1/.requirements && $(<"$1/.requirements") == "$2" ]] && "$1/bin/$3" "${@:4}" >/dev/null
}
