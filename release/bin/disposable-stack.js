// Adds DisposableStack and AsyncDisposableStack to Node before 24, as specified by ECMAScript's Explicit Resource
// Management proposal (https://tc39.es/proposal-explicit-resource-management/). Contains only the methods that shoal uses.
/** Returns the error of a disposal that fails after another disposal has failed. */
function suppress(error, suppressed) {
  return Object.assign(new Error('An error was suppressed during disposal.'), {
    name: 'SuppressedError',
    error,
    suppressed,
  })
}

class Entries {
  disposed = false
  list = []

  add(dispose) {
    if (this.disposed) throw new ReferenceError('the stack has been disposed of')
    this.list.push(dispose)
  }

  /** Returns the entries, last first, and leaves none. */
  take() {
    this.disposed = true
    return this.list.splice(0).reverse()
  }

  move() {
    if (this.disposed) throw new ReferenceError('the stack has been disposed of')
    this.disposed = true
    var moved = new Entries()
    moved.list = this.list.splice(0)
    return moved
  }
}

class SyncStack {
  #entries = new Entries()

  get disposed() {
    return this.#entries.disposed
  }

  use(value) {
    if (value === null || value === undefined) return value
    var dispose = value[Symbol.dispose]
    if (typeof dispose !== 'function') throw new TypeError('the value is not disposable')
    this.#entries.add(() => dispose.call(value))
    return value
  }

  defer(onDispose) {
    this.#entries.add(() => onDispose())
  }

  move() {
    var moved = new SyncStack()
    moved.#entries = this.#entries.move()
    return moved
  }

  dispose() {
    var failures = []
    for (const dispose of this.#entries.take()) {
      try {
        dispose()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures.reduce((earlier, later) => suppress(later, earlier))
  }

  [Symbol.dispose]() {
    this.dispose()
  }
}

class AsyncStack {
  #entries = new Entries()

  get disposed() {
    return this.#entries.disposed
  }

  use(value) {
    if (value === null || value === undefined) return value
    var dispose = value[Symbol.asyncDispose] || value[Symbol.dispose]
    if (typeof dispose !== 'function') throw new TypeError('the value is not disposable')
    this.#entries.add(() => dispose.call(value))
    return value
  }

  defer(onDispose) {
    this.#entries.add(() => onDispose())
  }

  move() {
    var moved = new AsyncStack()
    moved.#entries = this.#entries.move()
    return moved
  }

  async disposeAsync() {
    var failures = []
    for (const dispose of this.#entries.take()) {
      try {
        await dispose()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures.reduce((earlier, later) => suppress(later, earlier))
  }

  [Symbol.asyncDispose]() {
    return this.disposeAsync()
  }
}

globalThis.DisposableStack ??= SyncStack
globalThis.AsyncDisposableStack ??= AsyncStack

module.exports = { AsyncStack, SyncStack }
