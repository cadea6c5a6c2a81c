/**
 * Nothing from anywhere else, and no script but our own files. Images of others come where somebody asked for them: the address
 * says so.
 */
export function pageHeaders({ hasRemoteImages }: { hasRemoteImages: boolean }) {
  const policy = [
    "default-src 'self'",
    `img-src 'self'${hasRemoteImages ? ' https: http:' : ''}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  }
}
