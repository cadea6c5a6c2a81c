import type { CallSyntax } from '@shoal/grammar'
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

/** The markers around a part of an answer. `begin` is what a template prints before that part. */
export type Part = { open: string; close: string; begin: string }

/** The markers around a model's reasoning. If `open` is empty, answers begin with reasoning. */
export type Reasoning = Part & {
  /** What a template prints between reasoning and text. */
  end: string
  /** The words with which some templates begin the reasoning, and which are part of it. */
  intro?: string
}

export type CallFormat = {
  /** The markers before a call, outermost first. */
  opens: string[]
  /** The markers after a call, innermost first. */
  closes: string[]
  /** Whether a call without markers can be the entire answer. */
  isBare: boolean
  /** Whitespace that the template prints between text and a call. */
  gap: string
  /** The text at the end of a prompt that forces a call. Forced calls are JSON. */
  opening: string
  /** The name of the member that contains a forced call's arguments. */
  argumentsKey: string
  /** A call with the probe's names and values, as the template prints it or as `call-examples.ts` defines it. */
  example: string
  /** How calls are written after their opening markers. */
  syntax: CallSyntax | undefined
  /** Parses the calls between the markers. */
  read: ReadCalls
}
