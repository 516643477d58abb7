export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Scripts that ask `windlass __complete WORDS…` which words fit at the cursor. A line `:files` in the answer means that
 * file names fit as well.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `_windlass() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("$line")
    fi
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _windlass windlass`,
  zsh: `#compdef windlass
_windlass() {
  local -a found
  found=(\${(f)"$(\${words[1]} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${found[(I):files]} )); then
    found=(\${found:#:files})
    _files
  fi
  compadd -- $found
}
if [ "$funcstack[1]" = "_windlass" ]; then
  _windlass "$@"
else
  compdef _windlass windlass
fi`,
  fish: `function __windlass_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c windlass -f -a '(__windlass_complete)'`,
};
