import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { recorded } from './fixture.ts'
import {
  commandsIn,
  type Help,
  metricsIn,
  operationsIn,
  propertiesIn,
  readSources,
} from './spoken.ts'

type Order = { checkout: string; help: Help; token: string }

/** Records the names on which other programs depend: commands, environment variables, endpoints, codes and metrics. */
export async function makeSpoken({ checkout, help, token }: Order) {
  const { registryUrl, daemonUrl } = recorded
  const read = async (url: string) =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).text()
  const sources = await readSources(checkout)
  const daemon = sources.filter(({ path }) => path.startsWith('packages/daemon/'))
  const openapi = JSON.parse(await read(`${registryUrl}/openapi.json`))
  const failures = pathToFileURL(join(checkout, 'packages/cli/src/terminal/failure.ts'))
  return {
    commands: await commandsIn(help),
    exitCodes: (await import(failures.href)).exitCodes,
    variables: matches(sources, /\b(SHOAL_[A-Z_]*[A-Z]|DATABASE_URL)\b/g),
    errorCodes: matches(sources, /\bcode(?: = |: )'([a-z]+_[a-z_]+)'/g),
    registry: {
      operations: operationsIn(openapi),
      properties: propertiesIn(openapi),
      metrics: metricsIn(await read(`${registryUrl}/metrics`)),
    },
    daemon: {
      operations: matches(daemon, /\bapp\.((?:get|post|delete)\('[^']+)'/g).map((call) => {
        const [method = '', path = ''] = call.split("('")
        return `${method.toUpperCase()} ${path}`
      }),
      metrics: metricsIn(await read(`${daemonUrl}/metrics`)),
    },
  }
}

function matches(sources: readonly { text: string }[], pattern: RegExp): string[] {
  const found = sources.flatMap(({ text }) =>
    [...text.matchAll(pattern)].map(([, word = '']) => word),
  )
  return [...new Set(found)].toSorted()
}
