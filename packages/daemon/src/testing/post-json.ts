/** Sends a POST request with a JSON body. A string is sent unchanged. */
export const postJson = (url: string, body: object | string, init: RequestInit = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  })
