import { AppError, describePage } from '@shoal/core/errors'
import type { Problem } from '../common.ts'

/** An error response from the registry. `message` is the response's `detail`. */
export class ApiError extends AppError<'registry_refused'> {
  constructor(status: number, problem: Problem, retryAfter?: string, isForeign = false) {
    const details = { status, problem, retryAfter, ...(isForeign && { isForeign }) }
    super('registry_refused', problem.detail, details)
  }

  get status(): number {
    return this.details.status
  }

  get problem(): Problem {
    return this.details.problem
  }

  get retryAfter(): string | undefined {
    return this.details.retryAfter
  }
}

/**
 * Converts an error response. Every error response of a registry has a `detail`, so a response without one is from
 * another server, and its page says why. `sender` names that server in the message.
 */
export function toApiError(
  { status, text, retryAfter }: { status: number; text: string; retryAfter: string | undefined },
  sender: string,
): ApiError {
  const problem = problemIn(text)
  if (problem) return new ApiError(status, problem, retryAfter)
  const detail = `${sender} returned ${describePage(status, text)}`
  return new ApiError(status, { detail }, retryAfter, true)
}

/** Parses an error response from the registry. Returns undefined for anything else, such as a response from a proxy. */
export function problemIn(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const { detail } = Object(body) as { detail?: unknown }
    return typeof detail === 'string' ? (body as Problem) : undefined
  } catch {
    return undefined // not JSON, such as a page from a proxy
  }
}
