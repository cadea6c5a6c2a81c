import type { ReadCalls } from './call-reader.ts'

/** The format in which a model writes answers. */
export type AnswerFormat = {
  reasoning: Reasoning | undefined
  /** The markers around text for the user, if there are any. */
  content: Part | undefined
  calls: CallFormat
  /** Whether an answer consists of several messages with headers, like those of gpt-oss. */
  hasMessages: boolean
}

/** The markers around a part of an answer, and what a template prints before that part. */
export type Part = { open: string; close: string; begin: string }

/** The markers around a model's reasoning. If `open` is empty, answers begin with reasoning. */
export type Reasoning = Part & {
  /** What a template prints between reasoning and text. */
  end: string
  /** Words with which some templates begin the reasoning, and which are part of it. */
  intro?: string
}

export type CallFormat = {
  /** The markers before a call, outermost first. */
  opens: string[]
  /** The markers after a call, innermost first. */
  closes: string[]
  /** Whether a call without markers can be the entire answer. */
  isBare: boolean
  /** White space that the template prints between text and a call. */
  gap: string
  /** What a prompt for a forced call ends with. Forced calls are JSON. */
  opening: string
  /** The member that contains the arguments of a forced call. */
  argumentsKey: string
  /** A call with the names and values of the probe. */
  example: string
  /** Whether a call in `auto` is the same JSON as a forced call, alone or in a list, so that a grammar can enforce it. */
  shape: 'object' | 'list' | undefined
  /** Reads the calls between the markers. */
  read: ReadCalls
}
