import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compressZstd } from './zstd-encoder.ts'

const byApi = (bytes: Buffer): Buffer =>
  zlib.zstdCompressSync(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } })

describe('compressZstd', () => {
  test('gives the bytes of zlib, in any order of bodies', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ maxLength: 5000 }), fc.json()), { maxLength: 8 }), (texts) => {
        for (const text of texts) {
          const bytes = Buffer.from(text)
          expect(compressZstd(bytes).equals(byApi(bytes))).toBe(true)
        }
      }),
    )
  })

  test.each([0, 1, 70_000, 500_000, 1024 * 1024, 1024 * 1024 + 1, 3_000_000])(
    'compresses %i bytes that do not compress',
    (length) => {
      const bytes = randomBytes(length)
      expect(zlib.zstdDecompressSync(compressZstd(bytes)).equals(bytes)).toBe(true)
    },
  )

  test('a result stays as it is when more is compressed', () => {
    const first = compressZstd(Buffer.from('first '.repeat(2000)))
    const copy = Buffer.from(first)
    compressZstd(Buffer.from('second '.repeat(3000)))
    expect(first).toEqual(copy)
  })
})
