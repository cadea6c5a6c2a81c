import type { Static, TSchema } from 'typebox'
import type * as endpoints from '../endpoints.ts'
import { formatPath, type PathParameters } from '../format-path.ts'
import type { Route } from '../routes/route.ts'

// The types of a call are those of the endpoint's schemas. Only types are imported: pages load no schemas.
type Endpoint = (typeof endpoints)[keyof typeof endpoints]
type SchemaOf<R extends Route> = Extract<Endpoint, Pick<R, 'method' | 'url'>>['schema']
type PartOf<R extends Route, Name extends string> =
  SchemaOf<R> extends Record<Name, infer Part extends TSchema> ? Static<Part> : never

/** The response body of an endpoint; null if it is empty. */
export type AnswerOf<R extends Route> =
  SchemaOf<R>['response'] extends Record<keyof SchemaOf<R>['response'], infer Body extends TSchema>
    ? Static<Body>
    : never

/** The endpoints whose response body is an `Answer`. */
export type RouteTo<Answer, E = Endpoint> = E extends Route
  ? AnswerOf<E> extends Answer
    ? Pick<E, 'method' | 'url'>
    : never
  : never

/** The parts of a call, except its method and path. */
export type Call<R extends Route> = {
  query?: Partial<PartOf<R, 'querystring'>>
  /** The media type to accept. Default: JSON. */
  accept?: string
  signal?: AbortSignal | undefined
} & ([PartOf<R, 'body'>] extends [never] ? { body?: never } : { body: PartOf<R, 'body'> })

/** A call as an argument list, which may be empty for an endpoint without a request body. */
export type CallArguments<R extends Route> = [PartOf<R, 'body'>] extends [never]
  ? [call?: Call<R>]
  : [call: Call<R>]

export type Target<R extends Route = Route> = { route: R; path: string }

export const to = <R extends Route, Url extends string>(
  route: R & { url: Url },
  ...parameters: PathParameters<Url>
): Target<R> => ({ route, path: formatPath(route.url, ...parameters) })
