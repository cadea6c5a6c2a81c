# shoal, completion for bash
_shoal() {
  local line=${COMP_LINE:0:COMP_POINT}
  local word=${line##*[[:space:]]}
  # For bash, a colon ends a word. The text up to the last colon stays on the line, so it is removed from candidates.
  local typed=
  [[ $word == *:* ]] && typed=${word%:*}:
  COMPREPLY=()
  local candidate
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$typed"}")
  done < <(shoal __complete "$line" 2>/dev/null)
}
complete -o default -F _shoal shoal
