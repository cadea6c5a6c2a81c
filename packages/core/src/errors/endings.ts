/**
 * The ways in which a command can end, with the `code` in `--json` output and the exit code. Several error codes can
 * share an ending.
 */
export const endings = {
  failed: { exitCode: 1, meaning: 'any failure without a more specific code' },
  usage: { exitCode: 2, meaning: 'the command line is invalid' },
  not_found: { exitCode: 3, meaning: 'no such model, file or account' },
  not_signed_in: { exitCode: 4, meaning: 'a sign-in or an API key is required' },
  not_permitted: {
    exitCode: 5,
    meaning: 'the server does not allow this request from this account or origin',
  },
  unreachable: { exitCode: 6, meaning: 'the server could not be reached, or did not respond' },
  verification_failed: {
    exitCode: 7,
    meaning: 'the data does not match its SHA-256, even after retries',
  },
  no_room: {
    exitCode: 8,
    meaning: 'the local disk is full, or a model needs more memory than is available',
  },
  tls_failed: { exitCode: 9, meaning: 'a trusted TLS connection could not be established' },
  proxy_failed: {
    exitCode: 10,
    meaning: 'the server could not be reached through the forward proxy',
  },
  not_a_registry: { exitCode: 11, meaning: 'the server is not a shoal registry' },
  redirect_refused: { exitCode: 12, meaning: 'a redirect was not followed' },
  registry_failed: { exitCode: 13, meaning: 'the registry returned a server error' },
  rate_limited: { exitCode: 14, meaning: 'too many requests' },
  stopped: {
    exitCode: 130,
    meaning: 'stopped with Ctrl-C or SIGTERM; run the command again to resume',
  },
} as const satisfies Record<string, { exitCode: number; meaning: string }>

/** The `code` in the `--json` output of a command that failed. */
export type Ending = keyof typeof endings

/** Exit codes by ending. */
export const exitCodes = Object.fromEntries(
  Object.entries(endings).map(([code, { exitCode }]) => [code, exitCode]),
) as Record<Ending, number>
