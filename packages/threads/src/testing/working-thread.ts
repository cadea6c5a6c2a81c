/** The thread that `limited-thread.test.ts` calls. */
import { serveParent } from '../serve-parent.ts'

serveParent(() => ({
  echo(text: string) {
    if (text === 'fail') throw new Error('failed')
    return text
  },
  work(amount: 'endless' | 'large' | 'short') {
    const kept: object[] = []
    while (amount !== 'short') if (amount === 'large') kept.push({})
    return 'done'
  },
}))
