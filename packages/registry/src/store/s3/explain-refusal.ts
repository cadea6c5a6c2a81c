import { S3ServiceException } from '@aws-sdk/client-s3'
import { hasCode } from '@shoal/core/errors'
import { ConfigError } from '../../errors.ts'
import type { S3Bucket } from './presign-s3.ts'
import { describeForeign } from './s3-client.ts'

/** What a registry must be allowed to do with its bucket. */
const actions = {
  list: 'list the bucket',
  upload: 'upload objects to the bucket',
  read: 'read objects in the bucket',
  delete: 'delete objects in the bucket',
}

/**
 * Runs a step of the startup. If the store refuses the step or cannot be reached, throws a `ConfigError` with the name
 * of the setting that may be wrong.
 */
export type ExplainRefusal = <T>(action: keyof typeof actions, step: () => Promise<T>) => Promise<T>

export function refusalExplainer(place: S3Bucket): ExplainRefusal {
  return async (action, step) => {
    try {
      return await step()
    } catch (error) {
      const isAway = hasCode(error, 'unavailable')
      const cause = isAway ? error.cause : error
      throw new ConfigError(explain(cause, isAway, actions[action], place), { cause })
    }
  }
}

/** `isAway`: whether there was no response, or the store did not accept the request now. */
function explain(
  error: unknown,
  isAway: boolean,
  action: string,
  { bucket, endpoint }: S3Bucket,
): string {
  const foreign = describeForeign(error)
  if (foreign !== undefined || !(error instanceof S3ServiceException)) {
    const reason = foreign ?? (error instanceof Error ? error.message || error.name : String(error))
    return isAway && foreign === undefined
      ? `the S3 store at ${endpoint} cannot be reached (SHOAL_S3_ENDPOINT): ${reason}`
      : `the server at ${endpoint} (SHOAL_S3_ENDPOINT) does not respond like an S3 store: ${reason}`
  }
  switch (error.name) {
    case 'NoSuchBucket':
    case 'NotFound':
      return `the S3 store at ${endpoint} has no bucket ${bucket} (SHOAL_S3_BUCKET): create it`
    case 'InvalidAccessKeyId':
      return 'the S3 store has no access key with the ID in SHOAL_S3_ACCESS_KEY_ID'
    case 'SignatureDoesNotMatch':
      return 'SHOAL_S3_SECRET_ACCESS_KEY does not belong to SHOAL_S3_ACCESS_KEY_ID'
    case 'PermanentRedirect':
    case 'AuthorizationHeaderMalformed':
      return `the bucket ${bucket} is not in the region that SHOAL_S3_REGION specifies: ${error.message}`
    case 'RequestTimeTooSkewed':
      return `the clock of this machine differs too much from that of the S3 store: ${error.message}`
    default:
      // The status is checked instead of the name, because a response to HEAD has no body, and therefore no error code.
      if (error.$metadata.httpStatusCode === 403) {
        return `the access key in SHOAL_S3_ACCESS_KEY_ID is not allowed to ${action} ${bucket} (SHOAL_S3_BUCKET)`
      }
      return `the S3 store at ${endpoint} refused to ${action} ${bucket}: ${error.name} ${error.message}`
  }
}
