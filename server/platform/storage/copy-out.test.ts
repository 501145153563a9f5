import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { readCopied } from './database.ts'

const { connectionString } = await testApp()

async function copied(query: string): Promise<Buffer> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const chunks: Buffer[] = []
    for await (const chunk of client.query(copyTo(`copy (${query}) to stdout (format binary)`)))
      chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  } finally {
    await client.end()
  }
}

test('a field is its bytes, null is null, and an empty field is an empty buffer', async () => {
  const rows = readCopied(
    await copied(
      `select n::bigint, case when n = 2 then null else repeat('x', n * 100000)::bytea end, ''::bytea from generate_series(1, 3) n`,
    ),
    3,
  )
  expect(rows.map(([n, x, empty]) => [n?.readBigInt64BE(), x?.length ?? null, empty?.length])).toEqual([
    [1n, 100_000, 0],
    [2n, null, 0],
    [3n, 300_000, 0],
  ])
})

test('a result without rows is an empty list', async () => {
  expect(readCopied(await copied('select 1 where false'), 1)).toEqual([])
})

test('an incomplete stream is refused, wherever it was cut', async () => {
  const whole = await copied(`select 1::bigint, 'abc'::bytea`)
  for (let length = 0; length < whole.length; length++)
    expect(() => readCopied(whole.subarray(0, length), 2)).toThrow('cut off')
  expect(() => readCopied(whole, 3)).toThrow('2 fields instead of 3')
})
