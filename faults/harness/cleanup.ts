/** A stack whose deferred work is done when it is disposed of, and at the latest when this process ends. */
export function cleanupStack(): DisposableStack {
  const stack = new DisposableStack()
  const dispose = () => stack.dispose()
  process.once('exit', dispose)
  stack.defer(() => process.off('exit', dispose)) // the last to run
  return stack
}
