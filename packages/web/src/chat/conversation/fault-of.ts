import { DaemonError, DaemonGoneError } from '@shoal/protocol/inference-client'
import type { Fault } from './conversation.ts'

/** An error as a person can use it: what happened, and what to do. */
export function faultOf(error: unknown): Fault {
  if (error instanceof DaemonGoneError) {
    return {
      title: 'The daemon does not answer',
      advice: 'What you wrote is kept. Start it again, then try again:',
      command: 'shoal serve',
    }
  }
  if (error instanceof DaemonError) return faultOfRefusal(error)
  return { title: 'Something went wrong on this page', advice: sentence(String(error)) }
}

function faultOfRefusal({ details: { status, reason }, message }: DaemonError): Fault {
  if (reason === 'context_length_exceeded') {
    return {
      title: 'This chat is longer than the model can read',
      advice: `${sentence(message)} Start a new chat, or edit an earlier message and go on from there.`,
    }
  }
  if (reason === 'insufficient_memory') {
    return {
      title: 'There is no memory for this model',
      advice: `${sentence(message)} Unload another model, or choose a smaller one.`,
    }
  }
  if (status === 404) {
    return {
      title: 'This model is not here any more',
      advice: 'Choose another one above, or pull it again:',
      command: /shoal pull \S+/.exec(message)?.[0] ?? 'shoal pull shoal-tiny',
    }
  }
  if (status === 429) {
    return {
      title: 'Too many questions wait for this model',
      advice: 'Try again once others have had their answers.',
    }
  }
  if (reason === 'model_lost') {
    return {
      title: 'The model stopped in the middle',
      advice: `${sentence(message)} Try again: it is loaded anew.`,
    }
  }
  if (status === 503) {
    return {
      title: 'The model cannot be loaded',
      advice: `${sentence(message)} Choose another one, or look at what the daemon says:`,
      command: 'shoal logs',
    }
  }
  const title = status >= 500 ? 'The daemon is in trouble' : 'The daemon refused'
  return { title, advice: sentence(message) }
}

export const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
