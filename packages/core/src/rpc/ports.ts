/**
 * Ports between threads and between processes. This file declares the Node types that it needs, because the core
 * package imports nothing from Node.
 */

/** One end of a connection. Messages are sent as structured clones and arrive in order. */
export type Port = {
  /** Throws if the message cannot be cloned. Does nothing after the connection is closed. */
  post(message: unknown): void
  onMessage(listener: (message: unknown) => void): void
  /**
   * Calls `listener` with the reason when no more messages can arrive. The listener can be called twice; in that case,
   * the first reason is the more accurate one.
   */
  onClose(listener: (reason: Error) => void): void
}

type Listen<Events> = <E extends keyof Events & string>(event: E, listener: Events[E]) => unknown

type ThreadLike = {
  postMessage(message: unknown): void
  on: Listen<{
    message: (message: unknown) => void
    error: (error: Error) => void
    exit: (code: number) => void
  }>
}

/** A port to a worker thread of this process. */
export function threadPort(thread: ThreadLike): Port {
  return {
    post: (message) => thread.postMessage(message),
    onMessage: (listener) => thread.on('message', listener),
    onClose(listener) {
      thread.on('error', listener)
      thread.on('exit', (code) => listener(new Error(`the thread exited with code ${code}`)))
    },
  }
}

type ParentThreadLike = {
  postMessage(message: unknown): void
  on: Listen<{ message: (message: unknown) => void }>
}

/** A port to the parent of this thread. It never closes, because this thread ends when its parent does. */
export function parentThreadPort(parent: ParentThreadLike): Port {
  return {
    post: (message) => parent.postMessage(message),
    onMessage: (listener) => parent.on('message', listener),
    onClose: () => undefined,
  }
}

type ChildLike = {
  readonly connected: boolean
  readonly pid?: number | undefined
  send(message: never, whenSent: (error: Error | null) => void): unknown
  on: Listen<{
    message: (message: unknown) => void
    error: (error: Error) => void
    close: (code: number | null, killedBy: string | null) => void
  }>
}

/** How a process ended: the exit code or the signal, and a description such as `was killed by SIGKILL`. */
export type ProcessEnd = { code: number | null; killedBy: string | null; how: string }

/**
 * A port to a process started by `fork` with `serialization: 'advanced'`. When the process ends, `toError` creates the
 * error for pending calls. Do not end the process with `disconnect`: Node would then not emit a `close` event.
 */
export function childPort(child: ChildLike, toError: (end: ProcessEnd) => Error): Port {
  return {
    post(message) {
      // An error while sending means that the process is ending; `close` reports the reason.
      if (child.connected) child.send(message as never, () => undefined)
    },
    onMessage: (listener) => child.on('message', listener),
    onClose(listener) {
      // A process without a PID could not be started. Node also emits `error` if it cannot send a signal; in
      // that case, the process is still running.
      child.on('error', (error) => child.pid === undefined && listener(error))
      // `close` is emitted after `exit`, when all messages and output have been read.
      child.on('close', (code, killedBy) => {
        const how = killedBy ? `was killed by ${killedBy}` : `exited with code ${code}`
        listener(toError({ code, killedBy, how }))
      })
    },
  }
}

type ProcessLike = {
  readonly connected: boolean
  send?(message: never): unknown
  exit(code: number): never
  on: Listen<{
    message: (message: unknown) => void
    disconnect: () => void
    SIGINT: () => void
  }>
}

/**
 * A port to the parent process. This process exits when its parent does. On Ctrl-C, a terminal sends SIGINT to the
 * whole process group. With `ignoresInterrupt`, this process ignores SIGINT, so the parent decides when this process
 * ends.
 */
export function parentProcessPort(
  process: ProcessLike,
  { ignoresInterrupt }: { ignoresInterrupt: boolean },
): Port {
  process.on('disconnect', () => process.exit(0))
  if (ignoresInterrupt) process.on('SIGINT', () => undefined)
  return {
    post(message) {
      if (process.connected) process.send?.(message as never)
    },
    onMessage: (listener) => process.on('message', listener),
    onClose: () => undefined,
  }
}
