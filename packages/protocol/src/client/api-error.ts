import { AppError } from '@shoal/core/errors'
import type { Problem } from '../common.ts'

/** An error response from the registry. `message` is the response's `detail`. */
export class ApiError extends AppError<'registry_refused'> {
  constructor(status: number, problem: Problem, retryAfter?: string) {
    super('registry_refused', problem.detail, { status, problem, retryAfter })
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

/** Parses an error response from the registry. Returns undefined for anything else, such as a response from a proxy. */
export function problemIn(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const hasDetail = typeof body === 'object' && body !== null && 'detail' in body
    return hasDetail ? (body as Problem) : undefined
  } catch {
    return undefined // not JSON, such as a page from a proxy
  }
}
