import { useEffect, useState } from 'react'
import { observable } from '../observable.ts'
import { useObservable } from '../use-observable.ts'

/** The time of the next retry, in milliseconds since 1970. If no retry is pending, it is 0 or in the past. */
const waitEnd = observable(0)

/** Called before each wait requested by the registry. */
export const noteWait = ({ seconds }: { seconds: number }) =>
  waitEnd.set(Date.now() + seconds * 1000)

/** Counts down to the automatic retry of a request. */
export function WaitNotice() {
  const end = useObservable(waitEnd)
  const [now, setNow] = useState(0)
  useEffect(() => {
    setNow(Date.now())
    if (end <= Date.now()) return undefined
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [end])
  const seconds = Math.ceil((end - now) / 1000)
  const isWaiting = now > 0 && seconds > 0
  return (
    <div role="status" className="fixed inset-x-0 bottom-5 z-50 grid place-items-center">
      {isWaiting && (
        <p className="pop static px-4 py-2.5">The registry is busy. Retrying in {seconds} s.</p>
      )}
    </div>
  )
}
