import { describe } from 'vitest'
import { runtimeContract } from '../runtime/runtime.contract.ts'
import { scriptedRuntime } from './scripted-runtime.ts'

const options = { modelPath: '', contextLength: 512, slots: 4, threads: 1 }

describe('the scripted runtime', () => {
  runtimeContract(() => scriptedRuntime()(options))
})
