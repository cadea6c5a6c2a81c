import { commandKills } from './command-kills.ts'
import { forwardProxy } from './forward-proxy.ts'
import { modelKill } from './model-kill.ts'
import type { NetworkRound } from './round.ts'

export const networkRounds: readonly NetworkRound[] = [...commandKills, modelKill, forwardProxy]
