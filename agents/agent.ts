/** What the agents have in common. Each agent is one of the recipes in docs/agents.md. */

import type { Scenario } from './scripted-model.ts'

/** Where an agent runs, and the daemon that it uses. */
export type Place = {
  /** The daemon's base URL. */
  url: string
  /** The agent's own home folder. */
  home: string
  /** The folder in which the agent works. */
  folder: string
  model: string
  /** The context length in tokens, for the agent's own setting. */
  contextLength: number
}

export type Agent = {
  name: string
  /** The npm package, with its version. */
  package: `${string}@${string}`
  /** The command that the package installs. */
  command: string
  /** Files to write before the agent is started, by path relative to the home folder. */
  files?: (place: Place) => Record<string, string>
  env: (place: Place) => Record<string, string>
  args: (task: string, place: Place) => string[]
  /** Whether the agent, with these settings, compacts a conversation only after the error for a full context. */
  compactsAfterError: boolean
  /** The exit code after the error for a full context, if it is not 0 although the task is finished. */
  exitCodeAfterError?: number
  /** The scenarios that the agent does not finish, with the reason. */
  cannot?: Partial<Record<Scenario, string>>
}
