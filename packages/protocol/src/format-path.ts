/** The parameter names in a path such as `/v1/models/:id/files/:file_id`. */
type ParameterIn<Url extends string> = Url extends `${infer First}/${infer Rest}`
  ? ParameterIn<First> | ParameterIn<Rest>
  : Url extends `:${infer Name}?`
    ? Name
    : Url extends `:${infer Name}`
      ? Name
      : never

/** The parameters of a path, as an argument list; empty for a path without parameters. */
export type PathParameters<Url extends string> = [ParameterIn<Url>] extends [never]
  ? []
  : [Record<ParameterIn<Url>, string>]

/** Inserts the parameters into the path, percent-encoded so that each remains one segment. */
export function formatPath<Url extends string>(
  url: Url,
  ...parameters: PathParameters<Url>
): string {
  const [values = {}]: Record<string, string>[] = parameters
  return url.replace(/:(\w+)\??/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
