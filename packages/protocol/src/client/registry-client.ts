/** The client with all calls. */
import { accountCalls } from './account-calls.ts'
import { adminCalls } from './admin-calls.ts'
import {
  type ClientOptions,
  type Connection,
  type OptionChanges,
  openConnection,
} from './connection.ts'
import { credentialCalls } from './credential-calls.ts'
import { downloadCalls } from './download-calls.ts'
import { editCalls } from './edit-calls.ts'
import { fileCalls } from './file-calls.ts'
import { memberCalls } from './member-calls.ts'
import { modelCalls } from './model-calls.ts'
import { continueWithoutToken } from './refused-token.ts'
import { fetchTransport } from './transport.ts'
import { uploadCalls } from './upload-calls.ts'

export type RegistryClient = ReturnType<typeof allCalls> & {
  /**
   * Returns a client for the same registry with changed options, for example without a token or with a longer timeout.
   * @example
   * const visitor = client.with({ token: undefined })
   */
  with(changes: OptionChanges): RegistryClient
}

type RegistryClientOptions = ClientOptions & {
  /** Called when the registry has refused the token, but has answered a request without it. */
  onTokenRefused?: () => void
}

/**
 * Creates a client for one registry, with all calls. If the registry refuses the token, reads continue without it. Every call rejects with an `ApiError` if the registry returns an
 * error, and with a `NetworkError` if there was no usable response. Many calls accept a `signal` that cancels them.
 * @example
 * import { registryClient } from '@shoal/protocol/client'
 *
 * const client = registryClient({ baseUrl: 'http://localhost:8000', token })
 * const { models } = await client.listModels()
 */
export function registryClient({
  onTokenRefused,
  ...options
}: RegistryClientOptions): RegistryClient {
  const { transport = fetchTransport(), maxWaits = options.transport ? 0 : 5 } = options
  return clientOver(
    openConnection({
      ...options,
      maxWaits,
      transport: continueWithoutToken(transport, onTokenRefused),
    }),
  )
}

/** Creates a client with all calls for an open connection. */
export function clientOver(connection: Connection): RegistryClient {
  return {
    ...allCalls(connection),
    with: (changes) => clientOver(connection.with(changes)),
  }
}

const allCalls = (connection: Connection) => ({
  baseUrl: connection.baseUrl,
  ...modelCalls(connection),
  ...editCalls(connection),
  ...fileCalls(connection),
  ...uploadCalls(connection),
  ...downloadCalls(connection),
  ...accountCalls(connection),
  ...credentialCalls(connection),
  ...memberCalls(connection),
  ...adminCalls(connection),
})
