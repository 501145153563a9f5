import zlib from 'node:zlib'
import { expect, test } from 'vitest'
import { random } from '#bench/payloads.ts'
import { cases } from '#test/kit/properties.ts'
import { compressZstd } from './zstd-encoder.ts'
import { decompressZstdInto } from './zstd-decoder.ts'

const out = Buffer.alloc(1024 * 1024)

const ours = (bytes: Buffer): string => {
  const end = decompressZstdInto(bytes, out)
  return end === null ? 'broken' : out.toString('base64', 0, end)
}

const apis = (bytes: Buffer): string => {
  try {
    const decoded = zlib.zstdDecompressSync(bytes, { maxOutputLength: out.length - 1 })
    return decoded.toString('base64')
  } catch {
    return 'broken'
  }
}

const textOf = (rand: () => number): Buffer => {
  const words = Array.from({ length: 20 }, () => Math.floor(rand() * 1e9).toString(36))
  const count = Math.floor(rand() ** 3 * 100_000)
  return Buffer.from(Array.from({ length: count }, () => words[Math.floor(rand() * 20)]).join(' '))
}

test('decodes what the encoder and the API write, and refuses what the API refuses', () => {
  for (let seed = 0; seed < cases(300, 20_000); seed++) {
    const rand = random(seed)
    const text = textOf(rand)
    const frame = rand() < 0.5 ? compressZstd(text) : zlib.zstdCompressSync(text)
    const way = Math.floor(rand() * 5)
    if (way === 0) {
      // Cut off.
      const cut = frame.subarray(0, Math.floor(rand() * frame.length))
      expect(ours(cut), `seed ${seed}`).toBe(cut.length === 0 ? '' : 'broken')
    } else if (way === 1) {
      const damaged = Buffer.from(frame)
      const at = Math.floor(rand() * damaged.length)
      damaged[at] = (damaged[at] ?? 0) ^ 0x55
      expect(ours(damaged), `seed ${seed}`).toBe(apis(damaged))
    } else expect(ours(frame), `seed ${seed}`).toBe(text.length < out.length ? text.toString('base64') : 'broken')
  }
})

test('content that fills the output, or more, is refused', () => {
  const frame = compressZstd(Buffer.alloc(1_000, 'x'))
  expect(decompressZstdInto(frame, Buffer.alloc(1_001))).toBe(1_000)
  for (const room of [1_000, 999, 1, 0]) expect(decompressZstdInto(frame, Buffer.alloc(room))).toBeNull()
  expect(decompressZstdInto(frame, Buffer.alloc(1_001))).toBe(1_000)
})
