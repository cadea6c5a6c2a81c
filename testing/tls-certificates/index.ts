/** Certificates for TLS servers in tests, made by `make-certificates.sh`. */
import { fileURLToPath } from 'node:url'

/** The PEM files of a server. */
export type CertificateFiles = { certificate: string; key: string }

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const files = (name: string): CertificateFiles => ({
  certificate: path(`${name}.pem`),
  key: path(`${name}-key.pem`),
})

/** The private CA that has signed all of them except `selfSigned`. No system trusts it. */
export const testAuthority = path('ca.pem')

/** For localhost, registry.test, 127.0.0.1 and ::1, except `wrongName`. */
export const testCertificates = {
  valid: files('server'),
  expired: files('expired'),
  notYetValid: files('not-yet-valid'),
  /** For elsewhere.test only. */
  wrongName: files('wrong-name'),
  selfSigned: files('self-signed'),
}
