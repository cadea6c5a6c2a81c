// Adds DisposableStack and AsyncDisposableStack to Node before 24, as specified by ECMAScript's Explicit Resource
// Management proposal (https://tc39.es/proposal-explicit-resource-management/). Contains only the methods that shoal uses.
/** Throws the errors of disposals; each error contains the earlier ones. Does nothing if there are none. */
function throwAll(failures) {
  if (failures.length === 0) return
  throw failures.reduce((suppressed, error) =>
    Object.assign(new Error('An error was suppressed during disposal.'), {
      name: 'SuppressedError',
      error,
      suppressed,
    }),
  )
}

/** Removes all entries from a stack, and returns them, last first. */
var takeEntries

class Stack {
  #findDispose
  #entries = []
  #isDisposed = false

  /** `findDispose` returns the method that disposes of a value. */
  constructor(findDispose) {
    this.#findDispose = findDispose
  }

  static {
    takeEntries = (stack) => {
      stack.#isDisposed = true
      return stack.#entries.splice(0).reverse()
    }
  }

  get disposed() {
    return this.#isDisposed
  }

  use(value) {
    if (value === null || value === undefined) return value
    var dispose = this.#findDispose(value)
    if (typeof dispose !== 'function') throw new TypeError('the value is not disposable')
    this.#add(() => dispose.call(value))
    return value
  }

  defer(onDispose) {
    this.#add(() => onDispose())
  }

  move() {
    this.#refuseDisposed()
    var moved = new this.constructor()
    moved.#entries = takeEntries(this).reverse()
    return moved
  }

  #add(dispose) {
    this.#refuseDisposed()
    this.#entries.push(dispose)
  }

  #refuseDisposed() {
    if (this.#isDisposed) throw new ReferenceError('the stack has been disposed of')
  }
}

class SyncStack extends Stack {
  constructor() {
    super((value) => value[Symbol.dispose])
  }

  dispose() {
    var failures = []
    for (const dispose of takeEntries(this)) {
      try {
        dispose()
      } catch (error) {
        failures.push(error)
      }
    }
    throwAll(failures)
  }

  [Symbol.dispose]() {
    this.dispose()
  }
}

class AsyncStack extends Stack {
  constructor() {
    super((value) => value[Symbol.asyncDispose] || value[Symbol.dispose])
  }

  async disposeAsync() {
    var failures = []
    for (const dispose of takeEntries(this)) {
      try {
        await dispose()
      } catch (error) {
        failures.push(error)
      }
    }
    throwAll(failures)
  }

  [Symbol.asyncDispose]() {
    return this.disposeAsync()
  }
}

globalThis.DisposableStack ??= SyncStack
globalThis.AsyncDisposableStack ??= AsyncStack

module.exports = { AsyncStack, SyncStack }
