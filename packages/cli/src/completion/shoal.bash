# shoal, completion for bash
_shoal() {
  local line=${COMP_LINE:0:COMP_POINT}
  local word=${line##*[[:space:]]}
  # Bash takes a colon for the end of a word: what stands before the last one is on the line already.
  local typed=
  [[ $word == *:* ]] && typed=${word%:*}:
  COMPREPLY=()
  local candidate
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$typed"}")
  done < <(shoal __complete "$line" 2>/dev/null)
}
complete -o default -F _shoal shoal
