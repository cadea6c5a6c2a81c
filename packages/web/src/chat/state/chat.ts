/** The state and the actions of the chat page. The components only render the state and call the actions. */

import { DaemonError, type InferenceClient } from '@shoal/protocol/inference-client'
import { observable } from '../../observable.ts'
import {
  type Answer,
  type Conversation,
  type Message,
  newConversation,
  newId,
  type Settings,
  type SomeSettings,
  titleFrom,
  upTo,
} from '../conversation/conversation.ts'
import { type DraftView, emptyDraft } from '../conversation/draft.ts'
import { spoken } from '../conversation/spoken.ts'
import { takeAnswer } from '../conversation/take-answer.ts'
import { toChatFailure } from '../conversation/to-chat-failure.ts'
import type { Change, ChatHistory } from '../history/history.ts'
import { keeper } from '../history/keeper.ts'
import { type ChatState, chosenModel } from './chat-state.ts'
import { listLocalModels } from './local-models.ts'

export type Chat = ReturnType<typeof createChat>

type Dependencies = {
  daemon: InferenceClient
  openHistory: (onChange: (change: Change) => void) => Promise<ChatHistory>
  keepKey: (key: string) => void
  /** Reads and writes the ID of the current conversation in the URL. */
  address: { read: () => string; write: (id: string) => void }
}

export function createChat({ daemon, openHistory, keepKey, address }: Dependencies) {
  const state = observable<ChatState>({
    models: undefined,
    modelsFault: undefined,
    keyWanted: undefined,
    entries: [],
    historyFault: undefined,
    conversation: newConversation(),
    running: undefined,
    said: '',
  })
  const draft = observable<DraftView>(emptyDraft)
  const change = (some: Partial<ChatState>) => state.set({ ...state.get(), ...some })
  const changeConversation = (some: Partial<Conversation>) =>
    change({ conversation: { ...state.get().conversation, ...some } })

  let abort: AbortController | undefined
  let over: Promise<void> = Promise.resolve()
  const opening = openHistory(onChange).then(
    (history) => ({ history, ...keeper(history.save, onKept) }),
    (error: Error) => {
      change({ historyFault: `Chat history is unavailable: ${error.message}` })
      return undefined
    },
  )

  async function refreshModels() {
    try {
      change({
        models: await listLocalModels(daemon),
        modelsFault: undefined,
        keyWanted: undefined,
      })
    } catch (error) {
      if (wantsKey(error)) return
      change({ modelsFault: toChatFailure(error) })
    }
  }

  function wantsKey(error: unknown): boolean {
    if (!(error instanceof DaemonError) || error.details.status !== 401) return false
    change({ keyWanted: error.message })
    return true
  }

  async function refreshEntries() {
    const kept = await opening
    if (kept) change({ entries: await kept.history.list() })
  }

  /** Saves the conversation. If saving fails, shows the error, and the chat can continue without being saved. */
  async function keep(conversation: Conversation) {
    const kept = await opening
    if (!kept) return
    try {
      await kept.keep(conversation)
      await refreshEntries()
    } catch (error) {
      change({ historyFault: `This chat could not be saved: ${(error as Error).message}` })
    }
  }

  function onKept(id: string, kept: Conversation | undefined) {
    if (state.get().conversation.id !== id) return
    if (!kept) return startNew()
    if (state.get().conversation.revision === 0 || kept.id !== id) address.write(kept.id)
    changeConversation({ id: kept.id, revision: kept.revision })
  }

  /** Updates the state after another tab has changed the history. */
  async function onChange({ kind, id }: Change) {
    await refreshEntries()
    const { conversation, running } = state.get()
    if (conversation.revision === 0 || (id !== undefined && id !== conversation.id)) return
    if (kind === 'deleted') startNew()
    else if (!running) await show(conversation.id)
  }

  async function show(id: string) {
    const kept = await opening
    await kept?.settled()
    const found = await kept?.history.find(id)
    if (state.get().running) return // a question was sent in the meantime
    if (!found) return startNew()
    kept?.began(found)
    change({ conversation: found, said: '' })
  }

  /** Stops the current answer. Resolves when the answer has been saved. */
  async function stop() {
    abort?.abort()
    await over
  }

  /** Starts an empty conversation with the current model. */
  function startNew() {
    abort?.abort()
    address.write('')
    change({ conversation: newConversation(chosenModel(state.get())), said: '' })
  }

  function ask(messages: readonly Message[]) {
    const model = chosenModel(state.get())
    if (model === undefined || state.get().running) return
    const asked = messages.findLast(({ role }) => role === 'user')
    const { title } = state.get().conversation
    changeConversation({
      messages,
      model,
      title: title || titleFrom(asked?.content ?? ''),
      changedAt: Date.now(),
    })
    over = answer(state.get().conversation, model)
  }

  async function answer(conversation: Conversation, model: string) {
    abort = new AbortController()
    const answerId = newId()
    /**
     * Appends the answer to the conversation. If the conversation is still shown, uses its current title and revision,
     * which may have changed since the question was sent.
     */
    const withAnswer = (made: Answer): Conversation => {
      const shown = state.get().conversation
      const current = shown.messages === conversation.messages ? shown : conversation
      return { ...current, messages: [...conversation.messages, made] }
    }
    const showRunning = (queuedUntil: number | undefined) =>
      change({ running: { answerId, model, queuedUntil } })
    showRunning(undefined)
    change({ said: '' })
    void keep(conversation)

    const { answer: made, error } = await takeAnswer({
      daemon,
      conversation,
      model,
      answerId,
      signal: abort.signal,
      show: draft.set,
      onWait: showRunning,
      keep: (lost) => void keep(withAnswer(lost)),
    })
    if (error) wantsKey(error)
    const whole = withAnswer(made)
    const isShown = state.get().conversation.messages === conversation.messages
    if (isShown) change({ conversation: whole, said: spoken(made) })
    change({ running: undefined })
    await keep(whole)
    void refreshModels()
  }

  return {
    state,
    draft,
    refreshModels,
    stop,
    startNew,

    async start() {
      const id = address.read()
      await Promise.all([refreshModels(), refreshEntries(), id && show(id)])
    },

    /** Shows the conversation whose ID is in the URL. Call this after the URL has changed. */
    async follow() {
      const id = address.read()
      if (id === state.get().conversation.id) return
      await stop()
      if (id) await show(id)
      else startNew()
    },

    send(content: string) {
      const { messages } = state.get().conversation
      ask([...messages, { id: newId(), role: 'user', content }])
    },

    /** Sends an edited question, which replaces the original and all later messages. */
    editQuestion(id: string, content: string) {
      const { messages } = state.get().conversation
      ask([...upTo(messages, id), { id: newId(), role: 'user', content }])
    },

    retry: (answerId: string) => ask(upTo(state.get().conversation.messages, answerId)),

    /** Sends the last question again, for example because the page was closed before the answer arrived. */
    askAgain: () => ask(state.get().conversation.messages),

    chooseModel: (model: string) => changeConversation({ model }),

    /** Starts an empty conversation with a model. */
    startWith(model: string) {
      startNew()
      changeConversation({ model })
    },

    changeSettings(some: SomeSettings) {
      const settings = { ...state.get().conversation.settings, ...some }
      const given = Object.entries(settings).filter(([, value]) => value !== undefined)
      changeConversation({ settings: Object.fromEntries(given) as Settings })
    },

    /** Saves the settings if the conversation is already in the history. */
    async keepSettings() {
      const { conversation, running } = state.get()
      if (conversation.revision > 0 && !running) await keep(conversation)
    },

    async rename(id: string, title: string) {
      const kept = await opening
      await kept?.settled()
      const renamed = await kept?.history.rename(id, title)
      if (renamed && state.get().conversation.id === id) {
        kept?.began(renamed)
        changeConversation({ title, revision: renamed.revision })
      }
      await refreshEntries()
    },

    async delete(id: string) {
      if (state.get().conversation.id === id) {
        await stop()
        startNew()
      }
      const kept = await opening
      await kept?.settled()
      await kept?.history.delete(id)
      await refreshEntries()
    },

    async deleteAll() {
      await stop()
      startNew()
      const kept = await opening
      await kept?.settled()
      await kept?.history.deleteAll()
      await refreshEntries()
    },

    async giveKey(key: string) {
      keepKey(key)
      await refreshModels()
    },
  }
}
