import { useEffect, useState } from 'react'
import type { UploadWait } from '../jobs/wait.ts'

/** Shows why the upload is waiting, and the time left until the retry. */
export function WaitCountdown({ wait: { until, reason } }: { wait: UploadWait }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(1, Math.ceil((until - now) / 1000))
  return (
    <p className="mt-4 rounded-xl bg-sea-soft px-4 py-3 text-[15px]">
      <span role="status">{reason}. </span>
      <span className="tabular-nums">Retrying in {seconds} s. The uploaded parts are saved.</span>
    </p>
  )
}
