/** Creates a stack that is disposed of when this process exits, unless it has been disposed of before. */
export function cleanupStack(): DisposableStack {
  const stack = new DisposableStack()
  const dispose = () => stack.dispose()
  process.once('exit', dispose)
  stack.defer(() => process.off('exit', dispose)) // runs last
  return stack
}
