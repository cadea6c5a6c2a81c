export type FailureKind = 'lost' | 'wrong' | 'stuck'

/** One failure in one round, and how often it occurred. */
export type Failure = { kind: FailureKind; expected: string; seen: string; times: number }

export type Failures = ReturnType<typeof collectFailures>

/** Collects the failures of a round, and counts equal ones. */
export function collectFailures() {
  const found = new Map<string, Failure>()
  const report = (kind: FailureKind) => (expected: string, seen: string) => {
    const key = `${kind} ${expected} ${withoutNames(seen)}`
    const known = found.get(key)
    if (known) known.times += 1
    else found.set(key, { kind, expected, seen, times: 1 })
  }
  return {
    /** An acknowledged change is missing. */
    lost: report('lost'),
    /** Wrong bytes, counters or responses, or something incomplete. */
    wrong: report('wrong'),
    /** No recovery, no response or no exit within the time allowed. */
    stuck: report('stuck'),
    list: () => [...found.values()],
  }
}

/** Equal failures differ only in IDs, names and times. */
function withoutNames(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40,64}|\d+/g, '*')
}
