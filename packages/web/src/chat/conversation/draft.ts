import type { AnswerEnd, AnswerPart } from '@shoal/protocol/inference-client'
import type { Answer } from './conversation.ts'

export type DraftView = Pick<Answer, 'content' | 'reasoning'> & { tokensPerSecond?: number }

export const emptyDraft: DraftView = { content: '', reasoning: '' }

/** Minimum interval between updates of the displayed speed, so that users can read it. */
const figureEveryMs = 400

/** No speed is computed for a shorter duration, because it would be inaccurate. */
const shortestSeconds = 0.05

/** Collects an answer that is being received. Shows it at most once per frame, however many tokens arrive. */
export function newDraft(show: (view: DraftView) => void) {
  let content = ''
  let reasoning = ''
  let pieces = 0
  let tokens: number | undefined
  let firstAt = 0
  let lastAt = 0
  let shownSpeed: number | undefined
  let shownSpeedAt = 0
  let frame: number | undefined

  /**
   * Returns the tokens per second since the first token. The time until the first token is excluded, because this
   * time includes the evaluation of the prompt.
   */
  function speed(): number | undefined {
    const seconds = (lastAt - firstAt) / 1000
    const counted = (tokens ?? pieces) - 1
    return counted > 0 && seconds >= shortestSeconds ? counted / seconds : undefined
  }

  function shown(): DraftView {
    if (lastAt - shownSpeedAt >= figureEveryMs) {
      shownSpeed = speed()
      shownSpeedAt = lastAt
    }
    return { content, reasoning, ...(shownSpeed && { tokensPerSecond: shownSpeed }) }
  }

  return {
    add(part: AnswerPart | AnswerEnd) {
      if ('finishReason' in part) {
        tokens = part.usage?.completion_tokens
        return
      }
      content += part.content
      reasoning += part.reasoning
      pieces += 1
      lastAt = performance.now()
      if (pieces === 1) firstAt = shownSpeedAt = lastAt
      frame ??= requestAnimationFrame(() => {
        frame = undefined
        show(shown())
      })
    },

    /** Stops showing the draft. */
    close() {
      if (frame !== undefined) cancelAnimationFrame(frame)
      frame = undefined
    },

    read(): Pick<Answer, 'content' | 'reasoning' | 'tokens' | 'tokensPerSecond'> {
      const tokensPerSecond = speed()
      return {
        content,
        reasoning,
        ...(pieces > 0 && { tokens: tokens ?? pieces }),
        ...(tokensPerSecond && { tokensPerSecond }),
      }
    },
  }
}
