/**
 * Why a release was not installed:
 * - `none_offered`: the registry has no release for this machine.
 * - `untrusted`: the release is not signed with the installation's key, or its bytes do not match its checksum.
 * - `bad_response`: the registry returned an error, or not the whole file.
 * - `too_large`: the archive is larger than any release.
 */
export type UpgradeFailure = 'none_offered' | 'untrusted' | 'bad_response' | 'too_large'

/** A release that was not installed. The installation is unchanged. The message is a sentence for the user. */
export class UpgradeError extends Error {
  override name = 'UpgradeError'
  readonly reason: UpgradeFailure

  constructor(reason: UpgradeFailure, message: string) {
    super(message)
    this.reason = reason
  }
}
