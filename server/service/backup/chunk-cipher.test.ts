import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { deriveBackupKey } from './backup-key.ts'
import { decryptChunks, encryptChunks } from './chunk-cipher.ts'

const key = deriveBackupKey(randomBytes(32))
const HEADER = 5 + 32
const SEALED = 64 * 1024 + 16

const encrypt = (plain: Buffer): Promise<Buffer> => buffer(Readable.from(encryptChunks(key, Readable.from([plain]))))

/** In pieces of this size, as a file is read. */
const decrypt = (sealed: Buffer, pieceBytes = 7_000, by = key): Promise<Buffer> => {
  const pieces: Buffer[] = []
  for (let at = 0; at < sealed.length; at += pieceBytes) pieces.push(sealed.subarray(at, at + pieceBytes))
  return buffer(Readable.from(decryptChunks(by, Readable.from(pieces))))
}

test('what was encrypted is decrypted, at any size and in pieces of any size', async () => {
  for (const size of [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000]) {
    const plain = randomBytes(size)
    const sealed = await encrypt(plain)
    for (const pieceBytes of [1_000, 65_552, 1_000_000])
      expect((await decrypt(sealed, pieceBytes)).equals(plain)).toBe(true)
  }
})

test('two files of the same content share no byte behind their beginning', async () => {
  const plain = Buffer.alloc(1_000)
  expect((await encrypt(plain)).subarray(HEADER).equals((await encrypt(plain)).subarray(HEADER))).toBe(false)
})

test('chunks that are cut off, left out, repeated or moved do not open', async () => {
  const sealed = await encrypt(randomBytes(4 * 64 * 1024 + 100))
  const head = sealed.subarray(0, HEADER)
  const chunks = [0, 1, 2, 3, 4].map((n) => sealed.subarray(HEADER + n * SEALED, HEADER + (n + 1) * SEALED))
  const of = (...order: number[]): Buffer => Buffer.concat([head, ...order.map((n) => chunks[n] ?? Buffer.alloc(0))])
  expect((await decrypt(of(0, 1, 2, 3, 4))).length).toBe(4 * 64 * 1024 + 100)
  for (const order of [
    [0, 1, 2, 3],
    [0, 1],
    [],
    [1, 2, 3, 4],
    [0, 2, 3, 4],
    [0, 2, 1, 3, 4],
    [0, 0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4, 4],
  ])
    await expect(decrypt(of(...order)), order.join()).rejects.toThrow()
  await expect(decrypt(sealed, 7_000, deriveBackupKey(randomBytes(32)))).rejects.toThrow()
})

test('no changed bit and no cut at any place opens', async () => {
  const sealed = await encrypt(randomBytes(70_000))
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), fc.nat(7), fc.boolean(), async (at, bit, isCut) => {
      const harmed = isCut ? sealed.subarray(0, at) : Buffer.from(sealed)
      if (!isCut) harmed.writeUInt8(harmed.readUInt8(at) ^ (1 << bit), at)
      await expect(decrypt(harmed)).rejects.toThrow()
    }),
    { numRuns: cases(100, 5_000) },
  )
})
