export type FailureKind = 'lost' | 'wrong' | 'stuck'

/** One kind of failure in one round, however often it was met there. */
export type Failure = { kind: FailureKind; expected: string; seen: string; times: number }

export type Failures = ReturnType<typeof collectFailures>

/** Collects what went wrong in a round. The same failure again only adds to its number. */
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
    /** Bytes, counters or answers that are not what they must be; something half-made. */
    wrong: report('wrong'),
    /** No recovery, no answer or no end within the time allowed. */
    stuck: report('stuck'),
    list: () => [...found.values()],
  }
}

/** A number of the same failures differ only in ids, names and times. */
function withoutNames(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40,64}|\d+/g, '*')
}
