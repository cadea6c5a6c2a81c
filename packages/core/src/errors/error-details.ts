/** Every error code, with the type of its details. The meanings are in `table.ts`, which web pages do not load. */
export type ErrorCode = keyof ErrorDetails

export interface ErrorDetails {
  // Errors from a registry. Clients see an HTTP status and a `Problem`.
  invalid: ProblemDetails<'unknown_host' | 'chunk_mismatch'>
  unprocessable: ProblemDetails
  unauthenticated: ProblemDetails<'account_disabled'>
  forbidden: ProblemDetails<
    | 'bad_signature'
    | 'invitation_invalid'
    | 'registration_closed'
    | 'setup_code_required'
    | 'wrong_password'
  >
  not_found: ProblemDetails<'model_renamed' | 'model_unknown' | 'user_unknown'>
  conflict: ProblemDetails<
    | 'chunks_missing'
    | 'file_exists'
    | 'hash_conflict'
    | 'hashes_missing'
    | 'last_admin'
    | 'lease_lost'
    | 'model_not_empty'
    | 'name_taken'
    | 'owns_models'
    | 'too_many_keys'
    | 'username_reserved'
  >
  too_large: ProblemDetails<'quota_exceeded'>
  too_slow: ProblemDetails
  busy: ProblemDetails<'rate_limited' | 'too_many_searches'>
  unavailable: ProblemDetails
  /** `missingBytes` is the number of bytes that must be freed. */
  storage_full: { missingBytes: number }

  // Errors from a daemon. The daemon and its clients both use them.
  daemon_refused: {
    status: number
    /**
     * The `code` in the response, a stable identifier for programs; null if there is none. Clients pass on the daemon's
     * value unchanged.
     */
    reason: string | null
    /** The name of the invalid parameter. */
    param?: string | null
    retryAfterSeconds?: number | undefined
    /** Only for `context_length_exceeded`. */
    overflow?: Overflow | undefined
  }
  client_gone: Nothing
  /**
   * How the model's process ended: by a fault of its own, or by a signal from outside, such as SIGKILL. Undefined if the
   * process still runs, or if it was ended on purpose.
   */
  model_lost: { exit?: 'crashed' | 'killed' }
  model_unusable: Nothing
  context_length_exceeded: PromptDetails & { overflow: Overflow }
  template_failed: PromptDetails
  schema_refused: PromptDetails
  tool_refused: PromptDetails
  unknown_token: PromptDetails
  not_generative: PromptDetails
  not_embedding: PromptDetails
  not_ranking: PromptDetails

  // Failures between a client and a server.
  registry_refused: {
    status: number
    problem: ProblemMembers & { detail: string }
    /** The `Retry-After` header, unparsed. */
    retryAfter: string | undefined
    /** Whether the response is not the registry's own but, for example, from a reverse proxy in front of it. */
    isForeign?: boolean
  }
  daemon_gone: {
    url: string
    /** Whether the daemon had begun to respond. */
    hadBegun: boolean
  }
  unreachable: NetworkDetails<
    'dns' | 'refused' | 'no_route' | 'reset' | 'timeout' | 'no_peers' | 'unknown'
  >
  tls_failed: NetworkDetails<
    | 'self_signed'
    | 'unknown_issuer'
    | 'expired'
    | 'not_yet_valid'
    | 'wrong_name'
    | 'not_tls'
    | 'other'
  >
  proxy_failed: NetworkDetails<
    'dns' | 'refused' | 'no_route' | 'timeout' | 'auth' | 'denied' | 'answered'
  >
  not_a_registry: NetworkDetails<'html' | 'not_json' | 'other_program' | 'not_http'>
  redirect_refused: NetworkDetails<'loop' | 'other_host' | 'insecure' | 'moved'>

  // Transfers, and files on this machine.
  verification_failed: {
    /** The SHA-256 that the file or the chunk should have. */
    expected: string
    /** The SHA-256 that was found instead. Undefined if a manifest contradicts itself. */
    actual?: string
    /** The index of the chunk, if a chunk was verified. */
    chunkIndex?: number
    /** Whether the downloaded file was deleted. */
    isDeleted?: boolean
  }
  no_room: { neededBytes: number; freeBytes: number }
  file_in_the_way: { path: string }
  is_link: { path: string; target: string }
  cannot_link: { path: string }
  damaged_file: { path: string }
  file_busy: { path: string }
  /** In a browser, `path` is only the filename. */
  file_changed: { path: string }
  no_record: { path: string }
  bytes_refused: { status: number | undefined }
  file_refused: Nothing
  name_taken: Nothing
  other_tab: Nothing
  wrong_files: Nothing

  // Input: settings, references, files.
  invalid_setting: Nothing
  invalid_network_setting: Nothing
  /** `labels` contains names that distinguish the matching files from each other. */
  ambiguous_choice: { wanted: string; labels: string[] }
  invalid_gguf: Nothing
  invalid_bencode: Nothing
}

type Nothing = Readonly<Record<never, never>>

type ProblemMembers = {
  code?: string
  errors?: { path: string; message: string }[]
  missing_count?: number
}

/** `code` is the machine-readable reason in the response. Not every error has one. */
type ProblemDetails<Reason extends string = never> = Omit<ProblemMembers, 'code'> & {
  code?: Reason
  retryAfterSeconds?: number
}

/** `param` is the name of the invalid parameter; undefined if the code implies it. */
type PromptDetails = { param?: string | undefined }

/** A prompt that does not fit in the context, which must also have room for at least one token of the answer. */
export type Overflow = {
  promptTokens: number
  /** Whether the prompt may have more than `promptTokens` tokens. They are not all counted in a very long prompt. */
  isMinimum?: boolean
  /** In tokens. */
  contextLength: number
}

type NetworkDetails<Reason extends string> = {
  reason: Reason
  /** The host and port of the registry, or of the proxy if the proxy failed. */
  host: string
  /**
   * A message from the system or from OpenSSL, or a description of the response. Example: `connect ECONNREFUSED
   * 127.0.0.1:8000`.
   */
  detail: string
}
