# shoal, completion for bash
_shoal() {
  local line=${COMP_LINE:0:COMP_POINT}
  local word=${line##*[[:space:]]}
  # Bash replaces only the text after the last colon, so the text before it is removed from the candidates.
  local typed=
  [[ $word == *:* ]] && typed=${word%:*}:
  COMPREPLY=()
  local candidate
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$typed"}")
  done < <(shoal __complete "$line" 2>/dev/null)
}
complete -o default -F _shoal shoal
