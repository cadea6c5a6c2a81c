/** One endpoint, without its schemas, which only servers load. */
export type Route = {
  readonly method: string
  readonly url: string
  /**
   * Whether a request can be sent again if its response is lost. Default: whether its method is idempotent (RFC 9110,
   * section 9.2.2), which POST and PATCH are not.
   */
  readonly isRepeatable?: boolean
  /** Whether requests carry no token, because the endpoint needs none and cannot use one. */
  readonly isAnonymous?: boolean
  /**
   * A member that every response has, or every item of a response that is a list. It distinguishes a registry's
   * response from other JSON.
   */
  readonly marker?: string
  readonly isList?: boolean
}
