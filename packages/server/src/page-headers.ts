type PageOptions = {
  /**
   * Allowed image sources, in `img-src` syntax. By default, images must come from this server, like all other content.
   */
  imageSources?: string
  /** An additional origin to which pages may send requests. By default, they may send requests only to this server. */
  otherOrigin?: string | undefined
  referrerPolicy: 'same-origin' | 'no-referrer'
}

/**
 * Returns security headers for every page. Pages may load only this server's files, unless the options allow other
 * sources.
 */
export function pageHeaders({ imageSources, otherOrigin, referrerPolicy }: PageOptions) {
  const policy = [
    "default-src 'self'",
    ...(imageSources === undefined ? [] : [`img-src ${imageSources}`]),
    ...(otherOrigin === undefined ? [] : [`connect-src 'self' ${otherOrigin}`]),
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': referrerPolicy,
    'cross-origin-opener-policy': 'same-origin',
  }
}
