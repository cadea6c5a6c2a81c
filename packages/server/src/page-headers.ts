type PageOptions = {
  /** Where images may come from, in the words of `img-src`. Default: our own files, as with everything else. */
  imageSources?: string
  referrerPolicy: 'same-origin' | 'no-referrer'
}

/** For every page: nothing from anywhere else, and no script but our own files. */
export function pageHeaders({ imageSources, referrerPolicy }: PageOptions) {
  const policy = [
    "default-src 'self'",
    ...(imageSources === undefined ? [] : [`img-src ${imageSources}`]),
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
