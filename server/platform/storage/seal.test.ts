import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createSealer, generatedEncryptionKeys, newDataKey, parseEncryptionKeys } from './seal.ts'

const old = { id: 'k1', bytes: newDataKey() }
const fresh = { id: 'k2', bytes: newDataKey() }

test('a sealed value opens only with its place', () => {
  const sealer = createSealer([old])
  const sealed = sealer.seal(Buffer.from('secret'), 'users:totp:7')
  expect(sealed).toMatch(/^v1\.k1\.[\w-]+\.[\w-]+$/)
  expect(sealed).not.toContain('secret')
  expect(sealer.open(sealed, 'users:totp:7').toString()).toBe('secret')
  expect(() => sealer.open(sealed, 'users:totp:8')).toThrow()
})

test('sealing the same text twice returns two different values', () => {
  const sealer = createSealer([old])
  expect(sealer.seal(Buffer.from('x'), 'p')).not.toBe(sealer.seal(Buffer.from('x'), 'p'))
})

test('a changed value does not open', () => {
  const sealer = createSealer([old])
  const sealed = sealer.seal(Buffer.from('secret'), 'p')
  const flipped = sealed.slice(0, -2) + (sealed.at(-2) === 'A' ? 'B' : 'A') + sealed.slice(-1)
  expect(() => sealer.open(flipped, 'p')).toThrow()
  expect(() => sealer.open('v1.k1.abc', 'p')).toThrow('Not a sealed value')
})

test('old values still open after a new key was added in first position', () => {
  const sealed = createSealer([old]).seal(Buffer.from('secret'), 'p')
  expect(createSealer([fresh, old]).open(sealed, 'p').toString()).toBe('secret')
  expect(createSealer([fresh, old]).seal(Buffer.from('x'), 'p')).toMatch(/^v1\.k2\./)
  expect(() => createSealer([fresh]).open(sealed, 'p')).toThrow('encryption key k1')
})

describe('ENCRYPTION_KEYS', () => {
  const good = newDataKey().toString('base64')
  test('takes several keys', () => {
    expect(parseEncryptionKeys(`k2:${good},k1:${newDataKey().toString('base64')}`).map((key) => key.id)).toEqual([
      'k2',
      'k1',
    ])
  })
  test.each([
    ['nonsense', 'must be k1:'],
    [`k1:${Buffer.alloc(16, 1).toString('base64')}`, 'exactly 32 bytes'],
    [`k1:${Buffer.alloc(32, 7).toString('base64')}`, 'example value'],
    [`k1:${good},k1:${good}`, 'twice'],
  ])('refuses %s', (text, message) => {
    expect(() => parseEncryptionKeys(text)).toThrow(message)
  })
})

describe('generated keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-keys-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  test('are generated once, and only their owner can read them', () => {
    const [first] = generatedEncryptionKeys(folder)
    const [second] = generatedEncryptionKeys(folder)
    expect(first?.bytes.equals(second?.bytes ?? Buffer.alloc(0))).toBe(true)
    expect(statSync(join(folder, 'keys', 'encryption-keys')).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(folder, 'keys'))).toEqual(['encryption-keys'])
  })
  test('are the same for processes that start at the same time', async () => {
    const shared = join(folder, 'shared')
    const script = `
      const { generatedEncryptionKeys } = await import(${JSON.stringify(new URL('./seal.ts', import.meta.url).href)})
      const { promise, resolve } = Promise.withResolvers()
      process.stdin.once('data', resolve)
      console.log('ready')
      await promise
      for (let i = 0; i < 50; i++) console.log(generatedEncryptionKeys(${JSON.stringify(shared)} + i)[0].bytes.toString('hex'))
      process.stdin.destroy()`
    const children = [1, 2, 3, 4].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }),
    )
    const outputs = children.map(async (child) => {
      let text = ''
      for await (const piece of child.stdout) text += String(piece)
      return text.replace('ready\n', '')
    })
    await Promise.all(children.map((child) => once(child.stdout, 'readable')))
    for (const child of children) child.stdin.write('go\n')
    const [first, ...others] = await Promise.all(outputs)
    expect(first?.trim().split('\n')).toHaveLength(50)
    for (const other of others) expect(other).toBe(first)
  })
})
