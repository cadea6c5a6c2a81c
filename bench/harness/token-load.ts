/** Clients that request tokens from an inference server and wait for them. */

type Load = {
  model: string
  completionTokens: number
  neverTokens: number[]
  /** The number of alternatives for which log probabilities are requested; if undefined, none are. */
  logprobs?: number
}

const headers = { 'content-type': 'application/json' }

/** Returns the sum of the tokens per second of `count` concurrent streams. */
export async function measureStreams(url: string, load: Load, count: number): Promise<number> {
  const startedAt = performance.now()
  const streams = Array.from({ length: count }, (_, index) => stream(url, load, index))
  await Promise.all(streams)
  return (count * load.completionTokens) / ((performance.now() - startedAt) / 1000)
}

async function stream(url: string, load: Load, index: number) {
  const { model, completionTokens, neverTokens, logprobs } = load
  const response = await fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model,
      prompt: Array.from({ length: 8 }, (_, place) => 100 + place + index),
      max_tokens: completionTokens,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      ...(logprobs !== undefined && { logprobs }),
      logit_bias: Object.fromEntries(neverTokens.map((token) => [token, -100])),
      ignore_eos: true, // for llama-server, which only adds the bias to the logit
    }),
  })
  const text = await response.text()
  const usage = /"completion_tokens":(\d+)/.exec(text)?.[1]
  if (Number(usage) !== completionTokens)
    throw new Error(`${url} returned an unexpected response: ${text.slice(0, 500)}`)
}

type First = { model: string; prompt: number[]; neverTokens: number[] }

/** Returns the times in ms from a request to the headers and to the first token of its response. */
export async function measureFirstToken(url: string, { model, prompt, neverTokens }: First) {
  const startedAt = performance.now()
  const response = await fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      model,
      prompt,
      max_tokens: 1,
      temperature: 0,
      stream: true,
      logit_bias: Object.fromEntries(neverTokens.map((token) => [token, -100])),
    }),
  })
  const headersMs = performance.now() - startedAt
  const reader = response.body?.getReader()
  await reader?.read()
  const tokenMs = performance.now() - startedAt
  while (!(await reader?.read())?.done);
  return { headersMs, tokenMs }
}
