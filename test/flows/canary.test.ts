import { request } from 'node:http'
import { expect, test } from 'vitest'
import { everythingStored } from '#test/kit/everything-stored.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { readSamples, SAMPLE_KEY, SAMPLE_PROJECT, type Sample } from '#test/kit/samples.ts'
import { anEvent, anException, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/**
 * Sends everything SDKs were recorded to send, with secrets in all of it: storage and the service's log must hold none.
 */

const t = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })

const MARK = 'zq7canary'
/** Secrets recognisable by their text may be anywhere. */
const CARRIERS: Readonly<Record<string, (secret: string) => string>> = {
  bearer: (secret) => `Bearer ${secret}0123456789abcdef`,
  url: (secret) => `postgres://ada:${secret}@db.example.com/shop`,
  home: (secret) => `read /home/${secret}/notes.txt`,
  pem: (secret) => `-----BEGIN RSA PRIVATE KEY----- ${secret} -----END RSA PRIVATE KEY-----`,
  query: (secret) => `/pay?access_token=${secret}&page=2`,
  json: (secret) => JSON.stringify({ nested: { client_secret: secret } }),
}
const NUMBERS = ['4111 1111 1111 1111', '5500005555555559', 'DE89 3704 0044 0532 0130 00', '078-05-1120']
const KEYS = ['password', 'api_key', 'Authorization', 'sessionid', 'otp', 'mysql_pwd', 'two-factor', 'csrftoken']

let planted = 0
const secret = (): string => `${MARK}${planted++}x`

function plant(): Record<string, unknown> {
  const texts = Object.entries(CARRIERS).map(([name, carry]) => [`note_${name}`, carry(secret())])
  const numbers = NUMBERS.map((number, index) => [`number_${index}`, `it was ${number} today`])
  const keys = KEYS.map((key) => [key, secret()])
  return Object.fromEntries([...texts, ...numbers, ...keys]) as Record<string, unknown>
}

const asAttributes = (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, { value, type: 'string' }]))

/** Puts secrets into every place of an item that holds data of the app. */
function poisoned(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null) return payload
  const raw = structuredClone(payload) as Record<string, unknown>
  if (Array.isArray(raw['items'])) {
    for (const item of raw['items'] as Record<string, unknown>[]) {
      item['attributes'] = { ...(item['attributes'] as object), ...asAttributes(plant()) }
      if (typeof item['body'] === 'string')
        item['body'] += ` ${Object.values(CARRIERS)
          .map((carry) => carry(secret()))
          .join(' ')}`
    }
    return raw
  }
  if ('sid' in raw || 'aggregates' in raw || 'discarded_events' in raw) return raw
  const named = { ...plant(), ...(raw['extra'] as object) }
  return {
    ...raw,
    extra: named,
    contexts: { ...(raw['contexts'] as object), planted: plant() },
    tags: { ...(Array.isArray(raw['tags']) ? {} : (raw['tags'] as object)), token: secret() },
    request: {
      ...(raw['request'] as object),
      headers: { Authorization: `Basic ${secret()}`, Cookie: `sessionid=${secret()}` },
      data: plant(),
      query_string: `password=${secret()}`,
    },
    breadcrumbs: [{ message: CARRIERS['bearer']?.(secret()), data: plant() }],
  }
}

/** The items of a recorded envelope with secrets in them; what is not JSON stays. */
function poisonedBody(sample: Sample): Buffer | null {
  if (Object.keys(sample.headers).some((name) => name.toLowerCase() === 'content-encoding')) return null
  const lines = sample.body.toString('utf8').split('\n')
  try {
    return Buffer.from(
      lines
        .map((line, index) => {
          if (index === 0 || line === '') return line
          const value: unknown = JSON.parse(line)
          if (
            typeof value === 'object' &&
            value !== null &&
            'type' in value &&
            lines[index + 1] !== undefined &&
            index % 2 === 1
          )
            return JSON.stringify({ ...value, length: undefined })
          return JSON.stringify(poisoned(value))
        })
        .join('\n'),
    )
  } catch {
    return null
  }
}

const send = (sample: Sample, body: Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    const url = new URL(sample.url, t.url)
    const call = request(
      {
        host: url.hostname,
        port: url.port,
        method: sample.method,
        path: url.pathname + url.search,
        headers: { ...sample.headers, 'content-length': body.length },
      },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    call.on('error', reject)
    call.end(body)
  })

test('after all recordings with secrets, storage and log hold none of them', async () => {
  const owner = await aFounder(t.url)
  const project = await aProject(owner)
  await t.app.db.query('update projects set number = $1 where id = $2', [SAMPLE_PROJECT, project.id])
  await t.app.db.query('update project_keys set public_key = $1 where project_id = $2', [SAMPLE_KEY, project.id])
  const samples = readSamples(/^\/api\/4501\//)
  let poisonings = 0
  for (const sample of samples) {
    await send(sample, sample.body)
    const body = poisonedBody(sample)
    if (body !== null) {
      // New ids, so that they are not duplicates of the ones before.
      const text = body.toString().replaceAll(/"event_id":"[0-9a-f]{32}"/g, `"event_id":"${newEventId()}"`)
      if ((await send(sample, Buffer.from(text))) === 200) poisonings++
    }
  }
  expect(poisonings).toBeGreaterThan(40)
  const event = poisoned(anEvent({ exception: { values: [anException({ value: CARRIERS['url']?.(secret()) })] } }))
  const envelope = `{"event_id":"${newEventId()}","trace":{"user_id":"u","note":"${CARRIERS['bearer']?.(secret())}"}}\n{"type":"event"}\n${JSON.stringify(event)}\n`
  const [anyEnvelope] = samples.filter(({ url }) => url.includes('/envelope/'))
  if (anyEnvelope === undefined) throw new Error('no recordings')
  expect(await send({ ...anyEnvelope, headers: {} }, Buffer.from(envelope))).toBe(200)
  await t.service.drain()

  const { rows } = await t.app.db.query<{ outcome: string; n: number }>(
    'select outcome, sum(quantity)::int as n from outcomes_hourly where project_id = $1 group by 1',
    [project.id],
  )
  expect(rows.find(({ outcome }) => outcome === 'accepted')?.n ?? 0).toBeGreaterThan(150)
  expect(rows.find(({ outcome }) => outcome === 'dropped')).toBeUndefined()

  const stored = await everythingStored(t.app.db)
  const log = JSON.stringify(t.logLines)
  for (const [name, text] of [
    ['storage', stored],
    ['the log', log],
  ] as const) {
    expect(around(text, new RegExp(`${MARK}\\d`)), name).toEqual([])
    for (const number of NUMBERS) expect(around(text, new RegExp(number)), `${name}: ${number}`).toEqual([])
  }
  // Not because nothing was stored.
  expect(stored).toContain('[Filtered]')
})

/** The first places where a pattern is found, for the reader of a failure. */
function around(text: string, pattern: RegExp): string[] {
  const found: string[] = []
  for (const { index } of text.matchAll(new RegExp(pattern, 'g'))) {
    found.push(text.slice(Math.max(0, index - 120), index + 60))
    if (found.length === 5) break
  }
  return found
}
