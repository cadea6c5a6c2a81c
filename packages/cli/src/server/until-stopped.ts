/** Resolves when `signal` aborts, or at once if it is already aborted. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
