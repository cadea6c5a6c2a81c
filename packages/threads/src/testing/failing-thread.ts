/** A thread with a `close` method that fails. */
import { serveParent } from '../serve-parent.ts'

serveParent(() => ({
  async close() {
    throw Object.assign(new Error('the socket is stuck'), { code: 'EBUSY' })
  },
}))
