/** The push engine, which sends files through a `PushPort`, in a browser or in Node. It imports no Node modules. */

export { classifyError, TransferError, type TransferFailure } from './failure.ts'
export { type ProgressMeter, progressMeter } from './progress-meter.ts'
export { type AsyncQueue, asyncQueue } from './push/async-queue.ts'
export { dropEmptyModel } from './push/drop-empty-model.ts'
export { pushBlob } from './push/push-blob.ts'
export type { BlobPushEvent } from './push/push-options.ts'
export type { PushPort, PutOptions } from './push/push-port.ts'
export { pushTogether } from './push/push-together.ts'
export { minBytesWhileHashing, pushWhileHashing } from './push/push-while-hashing.ts'
export { createRetrier } from './retrier.ts'
