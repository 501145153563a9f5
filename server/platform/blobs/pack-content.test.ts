import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { CONTENT_ENCODINGS } from '../kernel/inflate.ts'
import { packContent, PIECE_BYTES, unpackPiece } from './pack-content.ts'

test('content is divided into pieces, compressed if that saves space, and restored byte for byte', async () => {
  const random = randomBytes(PIECE_BYTES + 10)
  const content = Buffer.concat([random, Buffer.alloc(PIECE_BYTES, 'log line\n')])
  const { sizeBytes, pieces } = await packContent(content)
  expect(sizeBytes).toBe(content.length)
  expect(pieces.map(({ encoding }) => encoding)).toEqual(['none', 'zstd', 'none'])
  const back = pieces.map(({ encoding, bytes }) => unpackPiece(CONTENT_ENCODINGS.indexOf(encoding), bytes))
  expect(Buffer.concat(back).equals(content)).toBe(true)
  expect(back.slice(0, -1).every((piece) => piece.length === PIECE_BYTES)).toBe(true)
  expect((await packContent(Buffer.alloc(0))).pieces).toEqual([])
})
