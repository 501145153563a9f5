import zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ContentEncoding } from '../../platform/kernel/inflate.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import {
  contentEncodingFrom,
  decodeBody,
  decodeLargeBody,
  decodeBodySync,
  decodePrefix,
  decodeSmallBody,
  permittedBytes,
} from './decode.ts'
import { decodeStoreBody } from './decode-store.ts'

const encode: Record<Exclude<ContentEncoding, 'none'>, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
}
const encodings = ['gzip', 'deflate', 'br', 'zstd'] as const

/** The code of the error that the call throws; 'none' without one. */
async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call()
    return 'none'
  } catch (error) {
    return error instanceof AppError ? error.code : `untyped ${String(error)}`
  }
}

describe('content encodings', () => {
  test.each([
    [undefined, 'none'],
    ['', 'none'],
    ['gzip', 'gzip'],
    ['X-GZIP', 'gzip'],
    [' br ', 'br'],
    ['zstd', 'zstd'],
    ['deflate', 'deflate'],
  ])('%s is %s', (header, encoding) => expect(contentEncodingFrom(header)).toBe(encoding))

  test('two layers and unknown codings are refused', async () => {
    expect(await codeOf(() => contentEncodingFrom('gzip, gzip'))).toBe('invalid')
    expect(await codeOf(() => contentEncodingFrom('compress'))).toBe('invalid')
  })
})

describe.each(encodings)('%s', (encoding) => {
  const text = Buffer.from(
    Array.from({ length: 900 }, (_, i) => `line ${i} ${(i * 2654435761) % 4294967296}\n`).join(''),
  )

  test('all ways of decoding return the same bytes', async () => {
    const raw = encode[encoding](text)
    expect(decodeSmallBody(raw, encoding)?.bytes).toEqual(text)
    expect(decodeBodySync(raw, encoding)).toEqual(text)
    expect(await decodeBody(raw, encoding)).toEqual(text)
    expect((await decodeLargeBody(raw, encoding)).bytes).toEqual(text)
  })

  test('an incomplete body is broken, not short', async () => {
    const raw = encode[encoding](text)
    for (let length = 0; length < raw.length; length += 97) {
      expect(await codeOf(() => decodeSmallBody(raw.subarray(0, length), encoding)), `${length} bytes`).toBe('invalid')
      expect(await codeOf(() => decodeLargeBody(raw.subarray(0, length), encoding)), `${length} bytes`).toBe('invalid')
    }
  })

  test('uncompressed bytes are broken', async () => {
    const noise = Buffer.from('this was never compressed by anything')
    expect(await codeOf(() => decodeSmallBody(noise, encoding))).toBe('invalid')
    expect(await codeOf(() => decodeLargeBody(noise, encoding))).toBe('invalid')
  })

  test('all ways of decoding refuse a bomb as too large', async () => {
    const bomb = encode[encoding](Buffer.alloc(8 * 1024 * 1024))
    expect(permittedBytes(bomb.length)).toBeLessThan(8 * 1024 * 1024)
    expect(await codeOf(() => decodeSmallBody(bomb, encoding))).toBe('too_large')
    expect(await codeOf(() => decodeLargeBody(bomb, encoding))).toBe('too_large')
    expect(await codeOf(() => decodeBodySync(bomb, encoding))).toBe('too_large')
  })

  test('the first line of an incomplete body can be read', () => {
    // Enough for a block of output in every coding.
    const long = Buffer.from(
      Array.from({ length: 40_000 }, (_, i) => `line ${i} ${(i * 2654435761) % 4294967296}\n`).join(''),
    )
    const raw = encode[encoding](long)
    const prefix = decodePrefix(raw.subarray(0, raw.length - 20), encoding, 500)
    expect(prefix).toEqual(long.subarray(0, 500))
  })
})

test('100 MB of zeros in a few bytes of brotli are refused quickly', async () => {
  const bomb = encode.br(Buffer.alloc(100 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(200)
  expect(await codeOf(() => decodeSmallBody(bomb, 'br'))).toBe('too_large')
})

test('a small body with a large decoded size, within the ratio, is decoded off the event loop', async () => {
  const lines = Buffer.from(
    Array.from({ length: 110_000 }, (_, i) => `${((i >> 4) * 40_503) & 65_535} some text that repeats\n`).join(''),
  )
  const raw = zlib.brotliCompressSync(lines, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })
  expect(raw.length * 100).toBeGreaterThan(lines.length)
  expect(raw.length).toBeLessThan(64 * 1024)
  expect(decodeSmallBody(raw, 'br')).toBeNull()
  expect(await decodeBody(raw, 'br')).toEqual(lines)
})

test('concurrent bodies have separate memory, which is reused after release', () => {
  const raw = (text: string): Buffer => zlib.gzipSync(text)
  const first = decodeSmallBody(raw('first'), 'gzip')!
  const second = decodeSmallBody(raw('second'), 'gzip')!
  expect([first, second].map(({ bytes }) => bytes.toString())).toEqual(['first', 'second'])
  first.release()
  second.release()
  const third = decodeSmallBody(raw('third'), 'gzip')!
  expect([first.bytes.buffer, second.bytes.buffer]).toContain(third.bytes.buffer)
  third.release()
})

test('decodes a body larger than the kept buffers, and one of the maximum size', () => {
  const text = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 2654435761) % 97).join(''))
  const raw = zlib.deflateSync(text)
  expect(text.length).toBeGreaterThan(128 * 1024)
  const decoded = decodeSmallBody(raw, 'deflate')
  if (decoded !== null) expect(decoded.bytes.equals(text)).toBe(true)
  // A body of any size may decode to 1 MiB.
  const most = zlib.gzipSync(Buffer.alloc(permittedBytes(1)))
  expect(decodeSmallBody(most, 'gzip')?.bytes.length).toBe(permittedBytes(1))
  expect(() => decodeSmallBody(zlib.gzipSync(Buffer.alloc(permittedBytes(1) + 1)), 'gzip')).toThrow('times its size')
})

test('several members of gzip are one body', () => {
  const raw = Buffer.concat([zlib.gzipSync('{"a":1}\n'), zlib.gzipSync('rest')])
  expect(decodeSmallBody(raw, 'gzip')?.bytes.toString()).toBe('{"a":1}\nrest')
})

describe('/store/', () => {
  const json = Buffer.from('{"message":"größer + 100%"}')

  test.each([
    ['plain JSON', json, 'none', true],
    ['JSON behind white space', Buffer.concat([Buffer.from('\r\n '), json]), 'none', true],
    ['gzip', zlib.gzipSync(json), 'gzip', true],
    ['base64 of zlib', Buffer.from(zlib.deflateSync(json).toString('base64')), 'none', false],
    ['base64 of JSON', Buffer.from(json.toString('base64')), 'none', false],
    ['a form with JSON', Buffer.from(`sentry_data=${encodeURIComponent(json.toString())}&x=1`), 'none', false],
    ['a form with base64', Buffer.from(`sentry_data=${zlib.deflateSync(json).toString('base64')}`), 'none', false],
    [
      'a form with url-safe base64',
      Buffer.from(`sentry_data=${zlib.deflateSync(json).toString('base64url')}`),
      'none',
      false,
    ],
  ] as const)('%s is decoded', (_name, raw, encoding, plain) => {
    const body = decodeStoreBody(raw, encoding)
    expect(JSON.parse(body.json.toString())).toEqual(JSON.parse(json.toString()))
    expect(body.plain).toBe(plain)
  })

  test.each([
    ['nothing', Buffer.alloc(0), 'invalid'],
    ['a JSON list', Buffer.from('[1]'), 'invalid'],
    ['words', Buffer.from('hello there!'), 'invalid'],
    ['base64 of words', Buffer.from(Buffer.from('hello').toString('base64')), 'invalid'],
    ['base64 of cut zlib', Buffer.from(zlib.deflateSync(json).subarray(0, 9).toString('base64')), 'invalid'],
    ['a form with a broken escape', Buffer.from('sentry_data=%7'), 'invalid'],
    ['an event over 1 MiB', Buffer.from(`{"message":"${'x'.repeat(1024 * 1024)}"}`), 'too_large'],
    [
      'a zlib bomb in base64',
      Buffer.from(zlib.deflateSync(Buffer.alloc(8 << 20, ' ')).toString('base64')),
      'too_large',
    ],
  ])('%s is refused', async (_name, raw, code) => expect(await codeOf(() => decodeStoreBody(raw, 'none'))).toBe(code))

  test('base64 of zlib with a Content-Encoding is refused, because it has two layers', async () => {
    const twice = zlib.gzipSync(zlib.deflateSync(json).toString('base64'))
    expect(await codeOf(() => decodeStoreBody(twice, 'gzip'))).toBe('invalid')
  })
})
