import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { requestTimes } from './request-times.ts'

test('the exported metrics are identical to those of a prom-client histogram', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const bucketsSeconds = [0.005, 0.1, 2]
  const name = 'request_seconds'
  const times = requestTimes({ name, bucketsSeconds, registry: ours })
  const histogram = new Histogram({
    name,
    help: 'Time to respond to a request, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: bucketsSeconds,
    registers: [theirs],
  })
  const requests = [
    { method: 'GET', route: '/v1/models', status: 200 },
    { method: 'GET', route: '/v1/"models"\n', status: 200 },
    { method: 'GET', route: '/v1/models', status: 404 },
  ]
  for (const seconds of [0, 0.005, 0.006, 1.5, 2, 3]) {
    for (const request of requests) {
      times.observe(request, seconds)
      histogram.observe(request, seconds)
    }
  }
  expect(await ours.metrics()).toBe(await theirs.metrics())
})
