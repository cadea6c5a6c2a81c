/** The names of the parameters in a path such as `/v1/models/:id/files/:file_id`. */
type ParameterIn<Url extends string> = Url extends `${infer First}/${infer Rest}`
  ? ParameterIn<First> | ParameterIn<Rest>
  : Url extends `:${infer Name}?`
    ? Name
    : Url extends `:${infer Name}`
      ? Name
      : never

/** Nothing for a path without parameters. */
export type PathParameters<Url extends string> = [ParameterIn<Url>] extends [never]
  ? []
  : [Record<ParameterIn<Url>, string>]

/** The path with its parameters, percent-encoded: each is one segment, whatever is in it. */
export function formatPath<Url extends string>(
  url: Url,
  ...parameters: PathParameters<Url>
): string {
  const [values = {}]: Record<string, string>[] = parameters
  return url.replace(/:(\w+)\??/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
