/** How a command can end, which is less than what can happen: the `code` in `--json`, with the exit code for the shell. */
export const endings = {
  failed: { exitCode: 1, meaning: 'anything else; never a failure of the network' },
  usage: { exitCode: 2, meaning: 'invalid command line' },
  not_found: { exitCode: 3, meaning: 'no such model or file' },
  not_signed_in: { exitCode: 4, meaning: 'a sign-in or an API key is required' },
  not_permitted: {
    exitCode: 5,
    meaning: 'the server refuses this request to this account or origin',
  },
  unreachable: { exitCode: 6, meaning: 'no answer' },
  verification_failed: {
    exitCode: 7,
    meaning: 'the bytes do not match their SHA-256, even after retries',
  },
  no_room: {
    exitCode: 8,
    meaning: 'the disk of this machine is full, or a model needs more memory than it has',
  },
  tls_failed: { exitCode: 9, meaning: 'no trusted connection' },
  proxy_failed: { exitCode: 10, meaning: 'a forward proxy failed' },
  not_a_registry: { exitCode: 11, meaning: 'something other than a registry answers' },
  redirect_refused: { exitCode: 12, meaning: 'a redirect that is not followed' },
  registry_failed: { exitCode: 13, meaning: 'the registry answers with an error of its own' },
  rate_limited: { exitCode: 14, meaning: 'too many requests' },
  stopped: { exitCode: 130, meaning: 'stopped with Ctrl-C or SIGTERM; run it again to resume' },
} as const satisfies Record<string, { exitCode: number; meaning: string }>

/** The `code` of a command that failed. */
export type Ending = keyof typeof endings

/** For the shell. */
export const exitCodes = Object.fromEntries(
  Object.entries(endings).map(([code, { exitCode }]) => [code, exitCode]),
) as Record<Ending, number>
