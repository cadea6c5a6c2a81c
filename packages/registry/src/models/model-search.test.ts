import type { Model } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { describeOnEachDatabase, type TestRegistry } from '../testing/test-registry.ts'

describeOnEachDatabase('a misspelled search', (start) => {
  let registry: TestRegistry
  let ana: string
  let ben: string

  const create = (token: string, name: string, body = {}) =>
    registry.post('/v1/models', { token, body: { name, ...body } })
  const change = (token: string, name: string, body: object) =>
    registry.call('PATCH', `/v1/models/${name}`, { token, body })
  const remove = (token: string, name: string) =>
    registry.call('DELETE', `/v1/models/${name}`, { token })
  const search = async (q: string, token?: string): Promise<string[]> => {
    const { body }: { body: Model[] } = await registry.get(`/v1/models?q=${q}`, { token })
    return body.map(({ name }) => name).sort()
  }

  beforeAll(async () => {
    registry = await start()
    await registry.register('admin')
    ana = await registry.register('ana')
    ben = await registry.register('ben')
    await create(ana, 'qzlomaxy')
  })

  test('is corrected the same way whether or not a private model contains the misspelled word', async () => {
    expect(await search('qzlomoxy')).toEqual(['qzlomaxy'])
    await create(ben, 'secret', { description: 'qzlomoxy', is_public: false })
    expect(await search('qzlomoxy')).toEqual(['qzlomaxy'])
    expect(await search('qzlomoxy', ana)).toEqual(['qzlomaxy'])
  })

  test('also finds the caller’s private models with the word as typed, or with a word that begins with it', async () => {
    expect(await search('qzlomoxy', ben)).toEqual(['qzlomaxy', 'secret'])
    expect(await search('qzlomo', ben)).toEqual(['qzlomaxy', 'secret'])
    expect(await search('qzlomoxy+secret', ben)).toEqual(['secret'])
  })

  test('reflects that a model becomes public, and then private again', async () => {
    await change(ben, 'secret', { is_public: true })
    expect(await search('qzlomoxy')).toEqual(['secret'])
    await change(ben, 'secret', { is_public: false })
    expect(await search('qzlomoxy')).toEqual(['qzlomaxy'])
  })

  test('is corrected again when the last public model with the misspelled word loses the word or is deleted', async () => {
    await create(ben, 'first', { description: 'qzlomixy' })
    await create(ben, 'second', { description: 'qzlomixy' })
    expect(await search('qzlomixy')).toEqual(['first', 'second'])
    await change(ben, 'first', { description: null })
    expect(await search('qzlomixy')).toEqual(['second'])
    await remove(ben, 'second')
    expect(await search('qzlomixy')).toEqual(['qzlomaxy'])
    await remove(ben, 'first')
  })

  test('is not corrected to a word that only private models have', async () => {
    await create(ben, 'hidden', { description: 'wrybill', is_public: false })
    expect(await search('wrybil', ben)).toEqual(['hidden'])
    expect(await search('wrybyll', ben)).toEqual([])
    await change(ben, 'hidden', { is_public: true })
    expect(await search('wrybyll')).toEqual(['hidden'])
  })

  test('is corrected to a word that one model loses while another one gains it', async () => {
    for (let round = 0; round < 20; round += 1) {
      const word = `zibbet${'abcdefghijklmnopqrst'[round]}`
      await create(ana, 'loses', { description: word })
      await Promise.all([remove(ana, 'loses'), create(ben, `gets-${round}`, { description: word })])
      expect(await search(word.replace('bb', 'bh'))).toContain(`gets-${round}`)
    }
  })
})
