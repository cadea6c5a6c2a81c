# shoal, completion for bash
_shoal() {
  local line=${COMP_LINE:0:COMP_POINT}
  local word=${line##*[[:space:]]}
  # Bash ends a word at a colon. The text up to the last colon is already on the line, so candidates omit it.
  local typed=
  [[ $word == *:* ]] && typed=${word%:*}:
  COMPREPLY=()
  local candidate
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$typed"}")
  done < <(shoal __complete "$line" 2>/dev/null)
}
complete -o default -F _shoal shoal
