import type { ModelFile } from '@shoal/protocol/client'
import type { PullEvent } from '@shoal/transfer'

/** The minimum time between lines, which limits them to about eleven per second. */
const minIntervalMs = 90

type Out = { report(line: object): void; isBehind(): boolean }

/** The status lines for the pull of one file. The number of completed bytes never decreases. */
export function pullStatusLines(file: ModelFile, { report, isBehind }: Out) {
  const { sha256_hash, file_size_bytes: total } = file
  const status = `pulling ${sha256_hash.slice(0, 12)}`
  let completed = 0
  let reportedAt = Number.NEGATIVE_INFINITY

  function reportNow() {
    reportedAt = performance.now()
    report({ status, digest: `sha256:${sha256_hash}`, total, completed })
  }

  return {
    onEvent(event: PullEvent) {
      if (event.type === 'progress') completed = Math.max(completed, event.bytesDone)
      if (event.type === 'resumed') completed = Math.max(completed, event.bytes)
      if (performance.now() - reportedAt >= minIntervalMs && !isBehind()) reportNow()
    },

    finish() {
      completed = total
      reportNow()
    },
  }
}
