#compdef shoal
# shoal, completion for zsh
_shoal() {
  local -a candidates
  local name meaning
  while IFS=$'\t' read -r name meaning; do
    candidates+=("${name//:/\\:}:$meaning")
  done < <(shoal __complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)
  if (( $#candidates )); then
    _describe shoal candidates
  else
    _files
  fi
}
compdef _shoal shoal
