/** When a presigned URL expires, in milliseconds since 1970; undefined if the URL does not contain its expiry. */
export function urlExpiry(url: string): number | undefined {
  const query = new Map(
    Array.from(URL.parse(url)?.searchParams ?? [], ([name, value]) => [name.toLowerCase(), value]),
  )
  for (const vendor of ['x-amz', 'x-goog']) {
    const signedAt = basicTime(query.get(`${vendor}-date`))
    const seconds = Number(query.get(`${vendor}-expires`) ?? Number.NaN)
    if (Number.isFinite(signedAt + seconds)) return signedAt + seconds * 1000
  }
  const seconds = Number(query.get('expires') ?? Number.NaN) // CloudFront, and S3 signatures before version 4
  return Number.isFinite(seconds) ? seconds * 1000 : undefined
}

/** Parses a time in ISO 8601 without separators, as in `20260131T120000Z`. */
function basicTime(text = ''): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5'))
}
