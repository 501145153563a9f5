import { describe, expect, test } from 'vitest'
import { readMultipart } from './read-multipart.ts'

const TYPE = 'multipart/form-data; boundary=edge'
const part = (name: string, value: string): string =>
  `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

test('returns fields and files in order', async () => {
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

test('240 parts are accepted', async () => {
  const form = await readMultipart(Buffer.from(part('a', 'x').repeat(240) + '--edge--\r\n'), TYPE)
  // Fields over the maximum number are left out.
  expect(form.fields).toHaveLength(200)
})

test('reads a file longer than one slice, with bytes that resemble boundaries', async () => {
  const content = Buffer.alloc(5 * 1024 * 1024, '--edg\r\n--edge-')
  const head = '--edge\r\ncontent-disposition: form-data; name="f"; filename="x.dmp"\r\n\r\n'
  const almost = Buffer.from(content.toString('latin1').replaceAll('\r\n--edge', '\r\n--edgy'), 'latin1')
  const form = await readMultipart(Buffer.concat([Buffer.from(head), almost, Buffer.from('\r\n--edge--\r\n')]), TYPE)
  expect(form.files).toHaveLength(1)
  expect(form.files[0]?.content.equals(almost)).toBe(true)
})

test('a form cut at any position is refused or complete, and never hangs', async () => {
  const whole = `${part('a', '1')}--edge\r\ncontent-disposition: form-data; name="f"; filename="x"\r\n\r\nMDMP\r\n--edge--\r\n`
  for (let length = 0; length < whole.length; length++) {
    const read = readMultipart(Buffer.from(whole.slice(0, length)), TYPE)
    const outcome = await read.then(
      ({ files }) => files.length,
      (error: { code?: string }) => error.code,
    )
    expect([1, 'invalid'], `cut at ${length}`).toContain(outcome)
  }
})
