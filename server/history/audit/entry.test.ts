import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { canonicalJson } from './canonical-json.ts'
import { canonicalEntry, entryText, entryTime, MAX_META_BYTES, metaText, NO_HASH, type Entry } from './entry.ts'

test('canonical JSON sorts keys by code units and has no spaces (RFC 8785, 3.2.3)', () => {
  const keys = {
    '\u20ac': 'Euro',
    '\r': 'CR',
    '\ufb33': 'Dalet',
    '1': 'One',
    '\u{1f600}': 'Smiley',
    '\u0080': 'C',
    ö: 'O',
  }
  expect(Object.values(JSON.parse(canonicalJson(keys)) as object)).toHaveLength(7)
  expect([...canonicalJson(keys).matchAll(/:"(\w+)"/g)].map(([, name]) => name)).toEqual(
    'CR One C O Euro Smiley Dalet'.split(' '),
  )
  expect(canonicalJson({ b: [1, { d: null, c: undefined, a: 1e21 }], a: -0 })).toBe(
    '{"a":0,"b":[1,{"a":1e+21,"d":null}]}',
  )
})

test('one value has one canonical form, and it is JSON of that value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
    { numRuns: cases(200, 5_000) },
  )
})

const entry: Entry = {
  id: 'i',
  org_id: 'o',
  seq: 7,
  created_at: '2026-01-01T00:00:00.000000Z',
  action: 'org.updated',
  event_type: null,
  actor_type: 'user',
  actor_id: 'u',
  actor_email: 'a"b@example.com',
  actor_role: 'owner',
  target_type: 'org',
  target_id: 'o',
  target_label: null,
  project_id: null,
  ip: '::1',
  user_agent: null,
  request_id: 'r',
  session_id: null,
  outcome: 'ok',
  meta: '{"a":1}',
  prev_hash: NO_HASH,
}

test('the hashed text of an entry is its canonical JSON', () => {
  const text = canonicalEntry(entry)
  expect(canonicalJson(JSON.parse(text))).toBe(text)
})

test('details are at most 4 KiB', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (meta) => {
      const text = metaText(meta)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_META_BYTES)
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
    { numRuns: cases(200, 5_000) },
  )
  const long = { reason: 'x'.repeat(5_000), ids: Array.from({ length: 500 }, (_, n) => n), from: 'a' }
  expect(JSON.parse(metaText(long))).toEqual({
    from: 'a',
    ids: long.ids.slice(0, 20),
    reason: `${'x'.repeat(200)}…`,
    truncated: true,
  })
  const deep = Object.fromEntries(long.ids.map((n) => [`k${n}`, long.ids.map(String)]))
  expect(JSON.parse(metaText({ ...deep, from: 'a' }))).toMatchObject({ truncated: true })
  expect(metaText({ from: 'a' })).toBe('{"from":"a"}')
})

test('texts are stored as they are hashed', () => {
  expect(entryText('a\0b\ud800')).toBe('a\ufffdb\ufffd')
  expect(entryText('x'.repeat(2_000))).toHaveLength(1_000)
  expect(entryText(undefined)).toBeNull()
  expect(entryTime(new Date(1))).toBe('1970-01-01T00:00:00.001000Z')
})

describe('a verbatim text', () => {
  const meta = (length: number) => ({
    code: 'CERT',
    delivery_id: 'd_1',
    message: 'é"'.repeat(length / 2),
    other: 'x'.repeat(300),
  })
  const textOf = (length: number) => JSON.parse(metaText(meta(length), 'message')) as Record<string, unknown>

  test('is whole as long as it fits, also when other fields are cut', () => {
    expect(textOf(1_000)).toEqual(meta(1_000))
    expect(JSON.parse(metaText({ ...meta(600), other: 'x'.repeat(4_000) }, 'message'))).toMatchObject({
      message: meta(600).message,
      truncated: true,
    })
  })

  test('is cut at the bound of the entry, and marked', () => {
    const { message, truncated, code } = textOf(8_000)
    expect({ truncated, code }).toEqual({ truncated: true, code: 'CERT' })
    expect(message).toMatch(/^(é"|é$)+é?…$/)
    const bytes = Buffer.byteLength(metaText(meta(8_000), 'message'))
    expect(bytes).toBeLessThanOrEqual(MAX_META_BYTES)
    expect(bytes).toBeGreaterThan(MAX_META_BYTES - 8)
  })
})
