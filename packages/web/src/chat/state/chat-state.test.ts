import { expect, test } from 'vitest'
import { newConversation } from '../conversation/conversation.ts'
import { type ChatState, chosenModel } from './chat-state.ts'

test('a conversation continues with its model, or with the first one if its model was removed', () => {
  const models = ['reef', 'tide'].map((id) => ({ id })) as unknown as ChatState['models']
  const chosen = (model?: string) =>
    chosenModel({ models, conversation: newConversation(model) } as ChatState)
  expect([chosen('tide'), chosen('gull'), chosen()]).toEqual(['tide', 'reef', 'reef'])
})
