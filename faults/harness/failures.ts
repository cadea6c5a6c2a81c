export type FailureKind = 'lost' | 'wrong' | 'stuck'

/** A failure, and how often it occurred in one round. */
export type Failure = { kind: FailureKind; expected: string; seen: string; times: number }

export type Failures = ReturnType<typeof collectFailures>

/** Collects the failures of a round, and counts repeated ones. */
export function collectFailures() {
  const found = new Map<string, Failure>()
  const report = (kind: FailureKind) => (expected: string, seen: string) => {
    const key = `${kind} ${expected} ${withoutNames(seen)}`
    const known = found.get(key)
    if (known) known.times += 1
    else found.set(key, { kind, expected, seen, times: 1 })
  }
  return {
    /** Reports that an acknowledged change is missing. */
    lost: report('lost'),
    /** Reports incorrect bytes, counters or responses, and incomplete data. */
    wrong: report('wrong'),
    /** Reports that the registry did not recover, respond or exit within the time allowed. */
    stuck: report('stuck'),
    list: () => [...found.values()],
  }
}

/** Replaces the parts that differ when a failure is repeated: IDs, names and times. */
function withoutNames(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40,64}|\d+/g, '*')
}
