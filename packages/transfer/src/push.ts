/** The push engine, for browsers as for Node: it sends one file over a port. Nothing of Node is loaded. */

export { classifyError, TransferError, type TransferFailure } from './failure.ts'
export { type ProgressMeter, progressMeter } from './progress-meter.ts'
export { pushBlob } from './push/push-blob.ts'
export type { BlobPushEvent } from './push/push-options.ts'
export type { PushPort, PutOptions } from './push/push-port.ts'
export { createRetrier } from './retrier.ts'
