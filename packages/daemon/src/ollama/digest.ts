/** Returns the SHA-256 in a digest such as `sha256:…`, in lowercase hexadecimal digits. Undefined if it is no digest. */
export const readDigest = (text: string): string | undefined =>
  /^@?sha256[:-]([0-9a-f]{64})$/.exec(text)?.[1]
