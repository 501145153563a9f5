import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases, PROPERTY_TIMEOUT_MS } from '#test/kit/properties.ts'
import { acceptedBy, acceptedByStandard, VERIFIER_NAMES, type SignedRequest } from '#test/kit/webhook-verifiers.ts'
import { newSecret, secretPrefix } from './signing-secret.ts'
import { requestHeaders } from './webhook-request.ts'

const BODY = Buffer.from('{"id":"evt_1","data":{"device_label":"Zoës ’Gerät’ 🧭 \\u0000"}}')

function signed(secrets: readonly string[], body = BODY, at = new Date()): SignedRequest {
  const headers = requestHeaders({
    eventId: 'evt_1',
    deliveryId: 'd_1',
    type: 'device.new',
    body,
    secrets,
    isStandard: true,
    ownHeaders: [{ name: 'X-Team', value: 'web' }],
    version: '1.2.3',
    at,
  })
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body,
  }
}

const with_ = (request: SignedRequest, header: string, value: string): SignedRequest => ({
  ...request,
  headers: { ...request.headers, [header]: value },
})

describe('a signature', () => {
  test('is accepted by independent libraries, whatever the secret and the body', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        const secret = newSecret()
        const request = signed([secret], Buffer.from(json))
        expect(await acceptedBy(secret, request)).toEqual(VERIFIER_NAMES)
        expect(await acceptedByStandard(secret, request)).toBe(true)
      }),
      { numRuns: cases(50, 1_000) },
    )
  })

  test(
    'is refused after any change of the body, the time, the signature or the secret',
    { timeout: PROPERTY_TIMEOUT_MS },
    async () => {
      const secret = newSecret()
      const request = signed([secret])
      const signature = String(request.headers['svc-signature'])
      const [t = '', v1 = ''] = signature.split(',')
      const changedSignature = (value: string): SignedRequest => {
        const changed = with_(request, 'svc-signature', value)
        return with_(changed, 'svc-timestamp', /^t=(\d+)/.exec(value)?.[1] ?? '')
      }
      const change = fc.oneof(
        fc.tuple(fc.nat(BODY.length - 1), fc.integer({ min: 1, max: 255 })).map(([place, by]) => {
          const body = Buffer.from(BODY)
          body[place] = (body[place] ?? 0) ^ by
          return { ...request, body }
        }),
        fc.nat(BODY.length - 1).map((length) => ({ ...request, body: BODY.subarray(0, length) })),
        fc
          .uint8Array({ minLength: 1, maxLength: 8 })
          .map((more) => ({ ...request, body: Buffer.concat([BODY, more]) })),
        fc.nat(BODY.length - 2).map((place) => {
          // Two bytes change their places.
          const body = Buffer.from(BODY)
          const [first = 0, second = 0] = [body[place], body[place + 1]]
          body[place] = second
          body[place + 1] = first === second ? first ^ 1 : first
          return { ...request, body }
        }),
        fc
          .integer({ min: -10_000, max: 10_000 })
          .filter((by) => by !== 0)
          .map((by) => changedSignature(`t=${Number(t.slice(2)) + by},${v1}`)),
        fc.tuple(fc.integer({ min: 3, max: 66 }), fc.integer({ min: 1, max: 15 })).map(([place, by]) => {
          const digit = (Number.parseInt(v1[place] ?? '0', 16) ^ by).toString(16)
          return changedSignature(`${t},${v1.slice(0, place)}${digit}${v1.slice(place + 1)}`)
        }),
        fc.integer({ min: 3, max: 65 }).map((place) => {
          const [first = '', second = ''] = [v1[place], v1[place + 1]]
          const swapped = first === second ? (first === '0' ? '11' : '00') : second + first
          return changedSignature(`${t},${v1.slice(0, place)}${swapped}${v1.slice(place + 2)}`)
        }),
        fc.integer({ min: 3, max: 66 }).map((length) => changedSignature(`${t},${v1.slice(0, length)}`)),
      )
      let tried = 0
      await fc.assert(
        fc.asyncProperty(change, async (changed) => {
          tried++
          expect(await acceptedBy(secret, changed)).toEqual([])
        }),
        { numRuns: cases(1_000, 10_000) },
      )
      expect(tried).toBeGreaterThanOrEqual(1_000)
      expect(await acceptedBy(newSecret(), request)).toEqual([])
      expect(await acceptedBy(secret.toLowerCase(), request)).toEqual([])
      expect(await acceptedBy(secret.slice('whsec_'.length), request)).toEqual([])
    },
  )

  test('has lower-case digits: upper case is refused by all who compare text', async () => {
    const secret = newSecret()
    const request = signed([secret])
    const [t = '', v1 = ''] = String(request.headers['svc-signature']).split(',')
    const upper = with_(request, 'svc-signature', `${t},v1=${v1.slice(3).toUpperCase()}`)
    // hook0 decodes the digits.
    expect(await acceptedBy(secret, upper)).toEqual(['hook0'])
  })

  test('is refused when the body was parsed and written again', async () => {
    const secret = newSecret()
    const request = signed([secret])
    const rebuilt = Buffer.from(JSON.stringify(JSON.parse(BODY.toString()), null, 2))
    expect(await acceptedBy(secret, { ...request, body: rebuilt })).toEqual([])
  })

  test('counts for five minutes in both directions, where the receiver checks both', async () => {
    const secret = newSecret()
    const at = (seconds: number) => signed([secret], BODY, new Date(Date.now() + seconds * 1_000))
    for (const seconds of [-295, 295]) expect(await acceptedBy(secret, at(seconds))).toEqual(VERIFIER_NAMES)
    expect(await acceptedBy(secret, at(-305))).toEqual([])
    expect(await acceptedBy(secret, at(305))).toEqual(['stripe', 'mux'])
    for (const seconds of [-305, 305]) expect(await acceptedByStandard(secret, at(seconds))).toBe(false)
  })

  test('of two secrets is accepted with either, the newest first', async () => {
    const [older, newer] = [newSecret(), newSecret()]
    const request = signed([newer, older])
    expect(await acceptedBy(newer, request)).toEqual(['stripe', 'mux', 'strict'])
    expect(await acceptedBy(older, request)).toEqual(['stripe', 'mux', 'hook0', 'strict'])
    for (const secret of [older, newer]) expect(await acceptedByStandard(secret, request)).toBe(true)
    const [, first] = String(request.headers['svc-signature']).split(',')
    expect(
      String(
        signed([newer], BODY, new Date(Number(String(request.headers['svc-timestamp'])) * 1_000)).headers[
          'svc-signature'
        ],
      ),
    ).toContain(first)
  })
})

test('500 secrets work with libraries that decode them', async () => {
  for (let n = 0; n < 500; n++) {
    const secret = newSecret()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(secretPrefix(secret)).toHaveLength(12)
    expect(await acceptedByStandard(secret, signed([secret]))).toBe(true)
  }
})
