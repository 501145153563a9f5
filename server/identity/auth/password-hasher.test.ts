import { expect, test } from 'vitest'
import { createPasswordHasher, PASSWORD_COST } from './password-hasher.ts'

const cheap = { memoryKib: 8, passes: 1 }

test('hashes with argon2id at the configured cost and verifies', async () => {
  const hasher = createPasswordHasher(PASSWORD_COST)
  const hash = await hasher.hash('correct horse battery')
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/)
  expect(Buffer.from(hash.split('$')[4] ?? '', 'base64')).toHaveLength(16)
  expect(Buffer.from(hash.split('$')[5] ?? '', 'base64')).toHaveLength(32)
  expect(await hasher.verify(hash, 'correct horse battery')).toBe(true)
  expect(await hasher.verify(hash, 'correct horse batterY')).toBe(false)
})

test('compares passwords exactly', async () => {
  const hasher = createPasswordHasher(cheap)
  const hash = await hasher.hash('cafe\u0301 password')
  expect(await hasher.verify(hash, 'café password')).toBe(false)
  expect(await hasher.verify(hash, 'cafe\u0301 password ')).toBe(false)
  expect(await hasher.verify(hash, 'cafe\u0301 password')).toBe(true)
})

test('no password matches a missing hash, not even the empty one', async () => {
  const hasher = createPasswordHasher(cheap)
  expect(await hasher.verify(null, '')).toBe(false)
  expect(await hasher.verify(null, 'anything')).toBe(false)
})

test('a hash with a lower cost is outdated and still verifies', async () => {
  const old = await createPasswordHasher(cheap).hash('correct horse battery')
  const hasher = createPasswordHasher({ memoryKib: 16, passes: 2 })
  expect(hasher.isOutdated(old)).toBe(true)
  expect(hasher.isOutdated(await hasher.hash('x'))).toBe(false)
  expect(await hasher.verify(old, 'correct horse battery')).toBe(true)
})

test('runs four in parallel, queues 64 and refuses the rest with 429', async () => {
  const hasher = createPasswordHasher(cheap)
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => hasher.hash('x')))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(100 - 4 - 64)
  expect(refused[0]?.reason).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: 2 } })
  await expect(hasher.hash('x')).resolves.toMatch('argon2id')
})

test('a check without a stored hash takes as much processor time as a real one', async () => {
  const hasher = createPasswordHasher(PASSWORD_COST)
  const before = process.cpuUsage()
  await hasher.verify(null, 'anything')
  const { user, system } = process.cpuUsage(before)
  // Processor time does not depend on load: a computed hash takes 30,000 µs or more.
  expect(user + system).toBeGreaterThan(5_000)
})
