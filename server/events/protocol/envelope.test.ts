import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { contentEncodingFrom, decodeBodySync } from './decode.ts'
import { decodeStoreBody } from './decode-store.ts'
import { type Envelope, MAX_ITEMS, parseEnvelope, itemPayload } from './envelope.ts'
import { checkDsn, readAuth } from './sentry-auth.ts'

const FOLDER = new URL('../../../test/fixtures/samples/edge-cases-handmade/', import.meta.url)
const Cases = z.object({
  cases: z.array(
    z.object({
      file: z.string(),
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      expect: z.object({
        status: z.number(),
        items: z.array(z.object({ type: z.string(), length: z.number().optional() })).optional(),
      }),
    }),
  ),
})
const { cases } = Cases.parse(JSON.parse(readFileSync(new URL('cases.json', FOLDER), 'utf8')))

const STATUS = new Map([
  ['invalid', 400],
  ['unauthenticated', 401],
  ['too_large', 413],
])

describe('the 39 edge cases', () => {
  test('are complete', () => expect(cases).toHaveLength(39))

  test.each(cases)('$file', ({ file, url, headers, expect: expected }) => {
    const header = (name: string) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
    const raw = readFileSync(new URL(file, FOLDER))
    let status = 200
    let items: { type: string; length: number }[] = []
    try {
      const auth = readAuth({
        xSentryAuth: header('x-sentry-auth'),
        authorization: header('authorization'),
        query: url.split('?')[1],
      })
      const encoding = contentEncodingFrom(header('content-encoding'))
      if (url.includes('/store/')) {
        items = [{ type: 'event', length: decodeStoreBody(raw, encoding).json.length }]
      } else {
        const envelope = parseEnvelope(decodeBodySync(raw, encoding))
        checkDsn(envelope.header.dsn, auth?.key ?? null, '4501')
        items = envelope.items
          .filter((item) => !item.surplus)
          .map((item) => ({ type: item.type, length: item.end - item.start }))
      }
    } catch (error) {
      status = STATUS.get(z.object({ code: z.string() }).parse(error).code) ?? 500
    }
    expect(status).toBe(expected.status)
    // Unknown items are split like others; digestion discards them.
    const known = items.filter((item) => item.type !== 'hologram')
    for (const [index, item] of (expected.items ?? []).entries()) expect(known[index]).toMatchObject(item)
    if (expected.items !== undefined) expect(known).toHaveLength(expected.items.length)
  })
})

const parse = (text: string): Envelope => parseEnvelope(Buffer.from(text))
const refused = (code: string): unknown => expect.objectContaining({ name: 'AppError', code })

describe('headers', () => {
  test('the id is stored plain and lower-case; the nil id counts as none', () => {
    expect(parse('{"event_id":"9EC79C33-ec99-42ab-8353-589fcb2e04dc"}').header.eventId).toBe(
      '9ec79c33ec9942ab8353589fcb2e04dc',
    )
    expect(parse('{"event_id":null}').header.eventId).toBeNull()
    expect(parse(`{"event_id":"${'0'.repeat(32)}"}`).header.eventId).toBeNull()
    expect(() => parse('{"event_id":"x"}')).toThrow(refused('invalid'))
    expect(() => parse('{"event_id":7}')).toThrow(refused('invalid'))
  })

  test('wrong types of optional fields count as absent', () => {
    const { header } = parse('{"sent_at":5,"sdk":[],"trace":"x","dsn":null,"future":{"a":1}}')
    expect(header).toMatchObject({ sentAt: null, sdk: null, trace: null, dsn: null, fields: { future: { a: 1 } } })
  })

  test.each([
    '[]',
    'null',
    '"x"',
    '7',
    '',
    '\n',
    '{"a":}',
    `{"a":"${'x'.repeat(70_000)}"}`,
    `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`,
  ])('refused as first line', (line) => expect(() => parse(line)).toThrow(refused('invalid')))

  test.each([
    '{"type":"event","length":-1}\n',
    '{"type":"event","length":1.5}\nab',
    '{"type":"event","length":"2"}\nab',
    `{"type":"event","length":${2 ** 53}}\nab`,
    '{"type":"event","length":1e999}\nab',
    '{"type":"","length":0}\n',
    '{"type":5}\n',
    '{}\n',
    '[]\n',
    `{"type":"event","deep":${'['.repeat(1000)}${']'.repeat(1000)}}\n{}`,
  ])('refused as item: %s', (item) => expect(() => parse(`{}\n${item}`)).toThrow(refused('invalid')))
})

describe('payloads', () => {
  test('share memory with the body', () => {
    const body = Buffer.from('{}\n{"type":"attachment","length":3}\na\nb\n')
    const { items } = parseEnvelope(body)
    expect(items).toHaveLength(1)
    const payload = itemPayload(body, items[0]!)
    expect(payload.toString()).toBe('a\nb')
    expect(payload.buffer).toBe(body.buffer)
  })

  test('of events after the first are marked, attachments stay', () => {
    const { items } = parse(
      '{}\n{"type":"attachment"}\nx\n{"type":"event"}\n{}\n{"type":"transaction"}\n{}\n{"type":"session"}\n{}',
    )
    expect(items.map((item) => item.surplus)).toEqual([false, false, true, false])
  })

  test('10,000 empty lines are ignored', () => {
    expect(parse(`{}${'\n'.repeat(10_000)}`).items).toEqual([])
    expect(parse(`{}\n{"type":"x"}\n1${'\n'.repeat(10_000)}{"type":"y"}\n2`).items.map((item) => item.type)).toEqual([
      'x',
      'y',
    ])
  })

  test('skips any number of blank lines', () => {
    for (const count of [1, 65_535, 65_536, 65_537, 200_000]) {
      const { items } = parse(`{}${'\n'.repeat(count)}{"type":"x"}\n1\n`)
      expect(items).toMatchObject([{ type: 'x', headerStart: count + 2 }])
    }
  })

  test('item headers have a maximum size', () => {
    const item = `{"type":"x","filler":"${'y'.repeat(60_000)}"}\n\n`
    expect(parse(`{}\n${item.repeat(30)}`).items).toHaveLength(30)
    expect(() => parse(`{}\n${item.repeat(40)}`)).toThrow(refused('too_large'))
  })

  test('more than the maximum number of items is refused', () => {
    const items = (count: number) => `{}\n${'{"type":"x"}\n\n'.repeat(count)}`
    expect(parse(items(MAX_ITEMS)).items).toHaveLength(MAX_ITEMS)
    expect(() => parse(items(MAX_ITEMS + 1))).toThrow(refused('too_large'))
  })
})

describe('fuzzed', () => {
  const item = fc.record({
    type: fc.constantFrom('event', 'attachment', 'session', 'hologram', 'client_report'),
    payload: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    sized: fc.boolean(),
    extra: fc.option(fc.string({ maxLength: 8 }), { nil: undefined }),
  })
  type Model = {
    items: { type: string; payload: Buffer; sized: boolean; extra: string | undefined }[]
    finalNewline: boolean
  }
  const envelope: fc.Arbitrary<Model> = fc.record({
    items: fc.array(item, { maxLength: 8 }),
    finalNewline: fc.boolean(),
  })

  /** A payload without length ends at its first newline, so it must not contain one. */
  const isSized = (one: { sized: boolean; payload: Buffer }) => one.sized || one.payload.includes(0x0a)

  function build({ items, finalNewline }: Model): Buffer {
    const parts: Buffer[] = [Buffer.from('{"sdk":{"name":"fuzz"}}')]
    for (const one of items) {
      const header = {
        type: one.type,
        ...(isSized(one) ? { length: one.payload.length } : {}),
        ...(one.extra === undefined ? {} : { extra: one.extra }),
      }
      parts.push(Buffer.from(`\n${JSON.stringify(header)}\n`), one.payload)
    }
    if (finalNewline) parts.push(Buffer.from('\n'))
    return Buffer.concat(parts)
  }

  test('parsing returns the built payloads byte by byte', () => {
    fc.assert(
      fc.property(envelope, (model) => {
        const body = build(model)
        const { items } = parseEnvelope(body)
        expect(items.map((one) => one.type)).toEqual(model.items.map((one) => one.type))
        for (const [index, one] of items.entries())
          expect(itemPayload(body, one).equals(model.items[index]!.payload)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a mutated envelope is refused with a reason, or all of its bytes belong to an item', () => {
    const edit = fc.record({
      at: fc.nat(400),
      remove: fc.nat(3),
      insert: fc.oneof(
        fc.uint8Array({ maxLength: 4 }),
        fc.constantFrom('\n', '{', '}', '"length":9', '{"type":"event"}\n').map((text) => Buffer.from(text)),
      ),
    })
    fc.assert(
      fc.property(envelope, fc.array(edit, { minLength: 1, maxLength: 5 }), (model, edits) => {
        let body = build(model)
        for (const { at, remove, insert } of edits) {
          const place = Math.min(at, body.length)
          body = Buffer.concat([body.subarray(0, place), insert, body.subarray(place + remove)])
        }
        let parsed: Envelope
        try {
          parsed = parseEnvelope(body)
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError', code: 'invalid' })
          return
        }
        let at = body.indexOf(0x0a)
        if (at === -1) at = body.length
        for (const one of parsed.items) {
          expect(body.subarray(at, one.headerStart).every((byte) => byte === 0x0a)).toBe(true)
          expect(one.start - one.headerStart).toBeGreaterThan(0)
          expect(one.end).toBeGreaterThanOrEqual(one.start)
          at = one.end
        }
        expect(body.subarray(at).every((byte) => byte === 0x0a)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })
})
