/** Certificates for TLS servers in tests, made by `make-certificates.sh`. */
import { fileURLToPath } from 'node:url'

/** The paths of a server's PEM files. */
export type CertificateFiles = { certificate: string; key: string }

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const files = (name: string): CertificateFiles => ({
  certificate: path(`${name}.pem`),
  key: path(`${name}-key.pem`),
})

/** The private CA that signed all certificates except `selfSigned`. No system trusts this CA. */
export const testAuthority = path('ca.pem')

/** Certificates for localhost, registry.test, 127.0.0.1 and ::1, except for `wrongName`. */
export const testCertificates = {
  valid: files('server'),
  expired: files('expired'),
  notYetValid: files('not-yet-valid'),
  /** A certificate for elsewhere.test only. */
  wrongName: files('wrong-name'),
  selfSigned: files('self-signed'),
}
