# shoal, completion for fish
complete -c shoal -f -a '(shoal __complete (commandline -cp) 2>/dev/null)'
complete -c shoal -n '__fish_seen_subcommand_from push' -F
