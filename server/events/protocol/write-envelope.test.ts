import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseEnvelope, itemPayload, writeEnvelope } from './envelope.ts'

test('a written envelope is parsed to the same items, for any payloads', () => {
  const payloads = fc.array(fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)))
  fc.assert(
    fc.property(payloads, (bodies) => {
      const written = writeEnvelope(
        { event_id: '0123456789abcdef0123456789abcdef' },
        bodies.map((payload, index) => ({ type: `t${index}`, headers: { filename: 'a\nb' }, payload })),
      )
      const { header, items } = parseEnvelope(written)
      expect(header.eventId).toBe('0123456789abcdef0123456789abcdef')
      expect(items.map((item) => itemPayload(written, item))).toEqual(bodies)
      for (const item of items) expect(item.headers.filename).toBe('a\nb')
    }),
  )
})
