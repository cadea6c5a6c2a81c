/**
 * Converts a path to the syntax of TanStack Router: `/m/:name` to `/m/$name`, and `/settings/:section?` to
 * `/settings/{-$section}`.
 */
export type RoutePath<Path extends string> = Path extends `${infer Before}/:${infer Name}?`
  ? `${Before}/{-$${Name}}`
  : Path extends `${infer Before}/:${infer Rest}`
    ? RoutePath<`${Before}/$${Rest}`>
    : Path

export const routePath = <Path extends string>(path: Path) =>
  path.replace(/:(\w+)\?/g, '{-$$$1}').replace(/:(\w+)/g, '$$$1') as RoutePath<Path>
