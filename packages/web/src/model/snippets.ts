type Subject = {
  /** The daemon's ID for the model and its file: `tide:Q8_0`. */
  id: string
  /** The same ID as a shell argument. It includes the registry, unless the CLI uses that registry by default. */
  argument: string
  /** The projector of a vision or audio model as a shell argument; undefined for other models. */
  projector: string | undefined
  /** The daemon's origin; undefined if there is no daemon. */
  daemon: string | undefined
}

/** Returns examples for running a model locally. If there is no daemon, returns only those that work without one. */
export function snippetsFor({ id, argument, projector, daemon }: Subject): Record<string, string> {
  const pull = `shoal pull ${argument}`
  return {
    CLI: `shoal run ${argument}`,
    ...(daemon !== undefined && snippetsOfApi(id, daemon, `Download the model first: ${pull}`)),
    'llama.cpp':
      projector === undefined
        ? `llama-cli -m "$(${pull})"`
        : `llama-mtmd-cli -m "$(${pull})" --mmproj "$(shoal pull ${projector})"`,
  }
}

function snippetsOfApi(id: string, daemon: string, before: string): Record<string, string> {
  return {
    Python: `# ${before}
from openai import OpenAI

client = OpenAI(base_url="${daemon}/v1", api_key="any")
answer = client.chat.completions.create(
    model="${id}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    JavaScript: `// ${before}
import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${daemon}/v1',
  apiKey: 'any',
})
const answer = await client.chat.completions.create({
  model: '${id}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
    curl: `# ${before}
curl ${daemon}/v1/chat/completions \\
  -H 'content-type: application/json' \\
  -d '{"model": "${id}",
       "messages": [{"role": "user", "content": "Hello"}]}'`,
  }
}
