import { DaemonError, DaemonGoneError } from '@shoal/protocol/inference-client'
import type { ChatFailure } from './conversation.ts'

/** Describes an error for the user: what happened, and what to do. */
export function toChatFailure(error: unknown): ChatFailure {
  if (error instanceof DaemonGoneError) {
    return {
      title: 'The daemon is not responding',
      advice: 'Start the daemon, then try again:',
      command: 'shoal serve',
    }
  }
  if (error instanceof DaemonError) return faultOfRefusal(error)
  return { title: 'Something went wrong on this page', advice: sentence(String(error)) }
}

function faultOfRefusal({ details: { status, reason }, message }: DaemonError): ChatFailure {
  if (reason === 'context_length_exceeded') {
    return {
      title: 'This chat exceeds the model’s context length',
      advice: `${sentence(message)} Start a new chat, or edit an earlier message and continue from there.`,
    }
  }
  if (reason === 'insufficient_memory') {
    return {
      title: 'Not enough memory for this model',
      advice: `${sentence(message)} Choose a smaller model.`,
    }
  }
  if (status === 404) {
    return {
      title: 'This model is no longer installed',
      advice: 'Choose another model above, or pull this one again:',
      pull: /shoal pull (\S+)/.exec(message)?.[1] ?? 'shoal-tiny',
    }
  }
  if (status === 429) {
    return {
      title: 'Too many requests are queued for this model',
      advice: 'Try again when other requests have finished.',
    }
  }
  if (reason === 'model_lost') {
    return {
      title: 'The model stopped unexpectedly',
      advice: `${sentence(message)} Try again; the model will be reloaded.`,
    }
  }
  if (reason === 'crashes_model') {
    return {
      title: 'This prompt has crashed the model repeatedly',
      advice: `${sentence(message)} Edit the message, or choose another model.`,
    }
  }
  if (status === 503 || reason === 'model_unusable') {
    return {
      title: 'The model could not be loaded',
      advice: `${sentence(message)} Choose another model, or check the daemon log:`,
      command: 'shoal logs',
    }
  }
  const title = status >= 500 ? 'Daemon error' : 'The request was rejected'
  return { title, advice: sentence(message) }
}

export const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
