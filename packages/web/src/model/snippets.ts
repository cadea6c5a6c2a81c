import { shellWord } from '@shoal/core/references'

/** Returns examples for running a model locally. If there is no daemon, returns only those that work without one. */
export function snippetsFor(model: string, daemon: string | undefined): Record<string, string> {
  return {
    CLI: `shoal run ${shellWord(model)}`,
    ...(daemon !== undefined && snippetsOfApi(model, daemon)),
    'llama.cpp': `llama-cli -m "$(shoal pull ${shellWord(model)})"`,
  }
}

function snippetsOfApi(model: string, daemon: string): Record<string, string> {
  return {
    Python: `from openai import OpenAI

client = OpenAI(base_url="${daemon}/v1", api_key="any")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    JavaScript: `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${daemon}/v1',
  apiKey: 'any',
})
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
    curl: `curl ${daemon}/v1/chat/completions \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}",
       "messages": [{"role": "user", "content": "Hello"}]}'`,
  }
}
