/** Both ends of a thread and of a child process as ports. What they need of Node is described here, since core imports nothing. */

/** One end of a line of messages that come in order and are structured clones. */
export type Port = {
  /** Throws if the message cannot be cloned. After the line has closed it does nothing. */
  post(message: unknown): void
  onMessage(listener: (message: unknown) => void): void
  /** `listener` is called once nothing more can come, with why: perhaps twice, of which the first reason is the better one. */
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

/** To a worker thread of this process. */
export function threadPort(thread: ThreadLike): Port {
  return {
    post: (message) => thread.postMessage(message),
    onMessage: (listener) => thread.on('message', listener),
    onClose(listener) {
      thread.on('error', listener)
      thread.on('exit', (code) => listener(new Error(`the thread ended with ${code}`)))
    },
  }
}

type ParentThreadLike = {
  postMessage(message: unknown): void
  on: Listen<{ message: (message: unknown) => void }>
}

/** To the thread that started this one, whose end is the end of this one. */
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

/** How a process ended: its exit code or the signal, and both as words such as `was ended by SIGKILL`. */
export type ProcessEnd = { code: number | null; killedBy: string | null; how: string }

/**
 * To a process that `fork` started with `serialization: 'advanced'`. `reasonOf` says what its end is to those who wait for it.
 * It must not be ended by `disconnect`, after which Node does not tell that it has closed.
 */
export function childPort(child: ChildLike, toError: (end: ProcessEnd) => Error): Port {
  return {
    post(message) {
      // An error of sending means that the process is ending: `close` says why.
      if (child.connected) child.send(message as never, () => undefined)
    },
    onMessage: (listener) => child.on('message', listener),
    onClose(listener) {
      // Of one that could not be started. That a signal could not be sent to it is no end.
      child.on('error', (error) => child.pid === undefined && listener(error))
      // After `exit`: its last messages and what it wrote have been read.
      child.on('close', (code, killedBy) => {
        const how = killedBy ? `was ended by ${killedBy}` : `ended with ${code}`
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
 * To the process that started this one, which ends with it. A terminal sends Ctrl-C to the whole group: with `ignoresInterrupt`
 * the parent decides when this process ends.
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
