import { expect, test } from 'vitest'
import { type Column, table } from './table.ts'

type Fish = { name: string; count: string; sea: string }

const columns: Column<Fish>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'COUNT', text: ({ count }) => count, align: 'right' },
  { title: 'SEA', text: ({ sea }) => sea, isOptional: true },
]
const rows = [
  { name: 'anchovy', count: '414.8K', sea: 'north' },
  { name: 'cod', count: '12', sea: '' },
]

test('columns are aligned, and no line has trailing whitespace', async () => {
  expect(await table(columns, rows)).toEqual([
    'NAME      COUNT  SEA',
    'anchovy  414.8K  north',
    'cod          12',
  ])
})

test('wide characters take two cells', async () => {
  const [, wide, narrow] = await table(columns, [
    { name: '鯨', count: '1', sea: 'x' },
    { name: 'ab', count: '1', sea: 'x' },
  ])
  expect(wide?.indexOf('x')).toBe((narrow?.indexOf('x') ?? 0) - 1)
})

test('on a narrow terminal, optional columns are omitted', async () => {
  expect(await table(columns, rows, { columns: 20 })).toEqual([
    'NAME      COUNT',
    'anchovy  414.8K',
    'cod          12',
  ])
})

test('colors do not change the widths', async () => {
  const painted = columns.map((column) => ({ ...column, paint: (text: string) => `<${text}>` }))
  const [, first] = await table(painted, rows)
  expect(first).toBe('<anchovy>  <414.8K>  <north>')
})
