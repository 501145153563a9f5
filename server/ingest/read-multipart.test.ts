import { describe, expect, test } from 'vitest'
import { readMultipart } from './read-multipart.ts'

const TYPE = 'multipart/form-data; boundary=edge'
const part = (name: string, value: string): string =>
  `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

test('fields and files come in order', async () => {
  const file = '--edge\r\ncontent-disposition: form-data; name="f"; filename="x.dmp"\r\n\r\nMDMP\0\xff\r\n'
  const form = await readMultipart(Buffer.from(`${part('a', '1')}${file}${part('b', '2')}--edge--\r\n`, 'latin1'), TYPE)
  expect(form.fields).toEqual([
    ['a', '1'],
    ['b', '2'],
  ])
  expect(form.files).toMatchObject([{ field: 'f', filename: 'x.dmp', content: Buffer.from('MDMP\0\xff', 'latin1') }])
})

describe('is refused', () => {
  test.each([
    ['more than 240 parts', part('a', 'x').repeat(241) + '--edge--\r\n', 'too_large'],
    ['a hundred thousand parts', part('a', 'x').repeat(100_000) + '--edge--\r\n', 'too_large'],
    ['nothing but boundaries', '--edge\r\n'.repeat(100_000), 'too_large'],
    ['no end', part('a', 'x'), 'invalid'],
    ['nothing', '', 'invalid'],
  ])('%s', async (_what, text, code) => {
    await expect(readMultipart(Buffer.from(text), TYPE)).rejects.toMatchObject({ code })
  })

  test.each(['text/plain', 'multipart/form-data', 'multipart/form-data; boundary='])('the type %s', async (type) => {
    await expect(readMultipart(Buffer.from(part('a', 'x')), type)).rejects.toMatchObject({ code: 'invalid' })
  })
})

test('240 parts are no more than there may be', async () => {
  const form = await readMultipart(Buffer.from(part('a', 'x').repeat(240) + '--edge--\r\n'), TYPE)
  // Fields past their own limit are left out.
  expect(form.fields).toHaveLength(200)
})
