import { isValidSlackRequest } from '@slack/bolt/dist/receivers/verify-request.js'
import { expect, test } from 'vitest'
import { CHAT_SECRET, formOf, payloadOf, signedRequest, type SentRequest } from '#test/kit/chat-platform.ts'
import { aCaller, aPerson } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testServer } from '#test/kit/test-server.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { aChatUser, aFiredAlert } from './chat.fixture.ts'
import { purgeChatTask } from './purge-chat-task.ts'
import { takePress } from './take-press.ts'

/** T-31 for the chat: what is sent to the public route, with Slack's own verifier as a second opinion. */

const t = await testServer({ env: { CHAT_SIGNING_SECRET: CHAT_SECRET } })
const { app, clock } = t
const owner = await aPerson(app)
const chatUserId = await aChatUser(app, owner)
const START = clock.now().getTime()
const at = (seconds: number): Date => new Date(START + seconds * 1000)

async function send({ headers, body }: SentRequest): Promise<number> {
  const response = await fetch(`${t.url}/api/integrations/chat/interactive`, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status === 401) expect(text).toBe(JSON.stringify({ error: REFUSED }))
  return response.status
}
const REFUSED = 'This request is not signed by the chat platform for this moment.'

const slackAccepts = ({ headers, body }: SentRequest): boolean =>
  isValidSlackRequest({
    signingSecret: CHAT_SECRET,
    body,
    headers: {
      'x-slack-signature': headers['x-chat-signature'] ?? headers['x-slack-signature'] ?? '',
      'x-slack-request-timestamp': Number(
        headers['x-chat-request-timestamp'] ?? headers['x-chat-timestamp'] ?? headers['x-slack-request-timestamp'],
      ),
    },
    nowMilliseconds: clock.now().getTime(),
  })

/** How often alerts were acknowledged. */
const effects = async (alertId: string): Promise<number> => {
  const { rows } = await app.db.query<{ n: number }>(
    `select count(*)::int as n from audit_log where action = 'alert.acknowledged' and target_id = $1`,
    [alertId],
  )
  return rows[0]?.n ?? 0
}

type Case = {
  readonly name: string
  /** From a press and its form body: requests, sent one after the other. */
  readonly send: (body: string, payload: Record<string, unknown>) => readonly SentRequest[]
  readonly statuses: readonly number[]
  readonly effects: 0 | 1
  /** Requests that Slack's verifier takes and we refuse. */
  readonly stricter?: readonly number[]
}

const signed = (body: string) => signedRequest(body, at(0))
const changed = (request: SentRequest, headers: Record<string, string>): SentRequest => ({
  ...request,
  headers: { ...request.headers, ...headers },
})
const without = ({ headers, body }: SentRequest, name: string): SentRequest => ({
  headers: Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name)),
  body,
})
const signatureOf = ({ headers }: SentRequest): string => headers['x-chat-signature'] ?? ''

const CASES: readonly Case[] = [
  { name: 'the headers of the specification', send: (body) => [signed(body)], statuses: [200], effects: 1 },
  {
    name: 'the headers of Slack',
    send: (body) => [signedRequest(body, at(0), { names: 'slack' })],
    statuses: [200],
    effects: 1,
  },
  {
    name: 'the short name of the time',
    send: (body) => [signedRequest(body, at(0), { names: 'mixed' })],
    statuses: [200],
    effects: 1,
  },
  {
    name: 'JSON instead of a form',
    send: (_body, payload) => [signedRequest(JSON.stringify(payload), at(0), { type: 'application/json' })],
    statuses: [200],
    effects: 1,
  },
  { name: '299 s old', send: (body) => [signedRequest(body, at(-299))], statuses: [200], effects: 1 },
  { name: '300 s old', send: (body) => [signedRequest(body, at(-300))], statuses: [200], effects: 1 },
  { name: '301 s old', send: (body) => [signedRequest(body, at(-301))], statuses: [401], effects: 0 },
  { name: 'a day old', send: (body) => [signedRequest(body, at(-86_400))], statuses: [401], effects: 0 },
  { name: '300 s early', send: (body) => [signedRequest(body, at(300))], statuses: [200], effects: 1 },
  {
    name: '301 s early',
    send: (body) => [signedRequest(body, at(301))],
    statuses: [401],
    effects: 0,
    stricter: [0],
  },
  {
    name: 'a day early',
    send: (body) => [signedRequest(body, at(86_400))],
    statuses: [401],
    effects: 0,
    stricter: [0],
  },
  {
    name: 'a time in milliseconds',
    send: (body) => {
      const request = signedRequest(body, new Date(START * 1000))
      return [request]
    },
    statuses: [401],
    effects: 0,
    stricter: [0],
  },
  {
    name: 'a time with a fraction',
    send: (body) => [changed(signed(body), { 'x-chat-request-timestamp': `${START / 1000}.0` })],
    statuses: [401],
    effects: 0,
    // It reads a number.
    stricter: [0],
  },
  {
    name: 'a negative time',
    send: (body) => [changed(signed(body), { 'x-chat-request-timestamp': `-${START / 1000}` })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'no time',
    send: (body) => [without(signed(body), 'x-chat-request-timestamp')],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'the time of another request',
    send: (body) => [changed(signed(body), { 'x-chat-request-timestamp': String(START / 1000 + 1) })],
    statuses: [401],
    effects: 0,
  },
  { name: 'no signature', send: (body) => [without(signed(body), 'x-chat-signature')], statuses: [401], effects: 0 },
  {
    name: 'a signature without its version',
    send: (body) => [changed(signed(body), { 'x-chat-signature': signatureOf(signed(body)).slice(3) })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'another version',
    send: (body) => [changed(signed(body), { 'x-chat-signature': signatureOf(signed(body)).replace('v0', 'v1') })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'capital digits',
    send: (body) => [
      changed(signed(body), { 'x-chat-signature': `v0=${signatureOf(signed(body)).slice(3).toUpperCase()}` }),
    ],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'a truncated signature',
    send: (body) => [changed(signed(body), { 'x-chat-signature': signatureOf(signed(body)).slice(0, -1) })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'a longer signature',
    send: (body) => [changed(signed(body), { 'x-chat-signature': `${signatureOf(signed(body))}0` })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'two signatures in a header',
    send: (body) => [
      changed(signed(body), { 'x-chat-signature': `${signatureOf(signed(body))}, ${signatureOf(signed(body))}` }),
    ],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'another secret',
    send: (body) => [signedRequest(body, at(0), { secret: `${CHAT_SECRET} ` })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'an empty secret',
    send: (body) => [signedRequest(body, at(0), { secret: '' })],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'the signature of another body',
    send: (body) => [{ ...signed(`${body} `), body }],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'a changed byte',
    send: (body) => [{ ...signed(body), body: body.replace('acme', 'acmf') }],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'a rebuilt body: the same payload, encoded again',
    send: (body, payload) => [
      { ...signed(body), body: `payload=${encodeURIComponent(JSON.stringify(payload, null, 1))}` },
    ],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'a truncated body',
    send: (body) => [{ ...signed(body), body: body.slice(0, -1) }],
    statuses: [401],
    effects: 0,
  },
  {
    name: 'a body with a further field',
    send: (body) => [{ ...signed(body), body: `${body}&a=b` }],
    statuses: [401],
    effects: 0,
  },
  { name: 'an empty body', send: () => [signed('')], statuses: [400], effects: 0 },
  { name: 'no payload', send: () => [signed('a=b')], statuses: [400], effects: 0 },
  { name: 'a payload that is not JSON', send: () => [signed('payload=%7B')], statuses: [400], effects: 0 },
  { name: 'a payload that is a list', send: () => [signed(formOf([]))], statuses: [400], effects: 0 },
  {
    name: 'a payload without a user',
    send: (_body, payload) => [signed(formOf({ ...payload, user: undefined }))],
    statuses: [400],
    effects: 0,
  },
  { name: 'two payloads', send: (body) => [signed(`${body}&${body}`)], statuses: [400], effects: 0 },
  {
    name: 'another kind of interaction',
    send: (_body, payload) => [signed(formOf({ ...payload, type: 'view_submission' }))],
    statuses: [200],
    effects: 0,
  },
  {
    name: 'a button that we do not know',
    send: (_body, payload) => [signed(formOf({ ...payload, actions: [{ action_id: 'other', value: 'x' }] }))],
    statuses: [200],
    effects: 0,
  },
  {
    name: 'a replay',
    send: (body) => [signed(body), signed(body), signed(body)],
    statuses: [200, 401, 401],
    effects: 1,
    stricter: [1, 2],
  },
  {
    name: 'a replay under other names of the headers',
    send: (body) => [signed(body), signedRequest(body, at(0), { names: 'slack' })],
    statuses: [200, 401],
    effects: 1,
    stricter: [1],
  },
  {
    name: 'a duplicate: the press delivered twice, signed again',
    send: (body) => [signed(body), signedRequest(body, at(1))],
    statuses: [200, 200],
    effects: 1,
  },
  {
    name: 'a duplicate with its fields in another order',
    send: (body, { type, ...payload }) => [signed(body), signedRequest(formOf({ ...payload, type }), at(0))],
    statuses: [200, 200],
    effects: 1,
  },
]

test('there are more than the 30 cases of T-31', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(30)
})

test.each(CASES)('$name', async ({ send: requestsOf, statuses, effects: expected, stricter = [] }) => {
  const { alertId } = await aFiredAlert(app, owner)
  const payload = payloadOf('acknowledge', alertId, chatUserId)
  const requests = requestsOf(formOf(payload), payload)
  const got: number[] = []
  for (const request of requests) got.push(await send(request))
  expect(got).toEqual(statuses)
  expect(await effects(alertId)).toBe(expected)
  for (const [index, request] of requests.entries())
    expect(slackAccepts(request), `Slack's opinion of request ${index}`).toBe(
      statuses[index] !== 401 || stricter.includes(index),
    )
})

test('of a request that two processes receive many times at once, one is taken', async () => {
  const { alertId } = await aFiredAlert(app, owner)
  const { headers, body } = signed(formOf(payloadOf('acknowledge', alertId, chatUserId)))
  const other = await secondApp(t)
  const taken = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      try {
        await takePress(index % 2 === 0 ? app : other, aCaller(), { headers, body: Buffer.from(body) })
        return 200
      } catch (error) {
        return error instanceof AppError && error.code === 'unauthenticated' ? 401 : 500
      }
    }),
  )
  expect(taken.filter((status) => status === 200)).toHaveLength(1)
  expect(taken.filter((status) => status === 401)).toHaveLength(11)
  expect(await effects(alertId)).toBe(1)
})

test('a request is refused as long as its signature is valid, also after old ones were forgotten', async () => {
  const { alertId } = await aFiredAlert(app, owner)
  const early = signedRequest(formOf(payloadOf('acknowledge', alertId, chatUserId)), at(300))
  expect(await send(early)).toBe(200)
  for (const seconds of [299, 300, 599, 600]) {
    clock.set(at(seconds))
    await purgeChatTask.run(app, {}, new AbortController().signal)
    expect(await send(early), `${seconds} s later`).toBe(401)
  }
  clock.set(at(700))
  await purgeChatTask.run(app, {}, new AbortController().signal)
  expect(await app.db.selectFrom('chat_requests').selectAll().execute()).toEqual([])
  expect(await send(early)).toBe(401)
  clock.set(at(0))
})

test('a body of more than a megabyte is refused before it is verified', async () => {
  expect(await send(signed(`payload=${'a'.repeat(1024 * 1024)}`))).toBe(400)
})

test('an error of ours lets the platform send the same request again', async () => {
  const { alertId } = await aFiredAlert(app, owner)
  const request = signed(formOf(payloadOf('acknowledge', alertId, chatUserId)))
  await app.db.query('alter table fired_alerts rename to fired_alerts_away')
  try {
    expect(await send(request)).toBe(500)
  } finally {
    await app.db.query('alter table fired_alerts_away rename to fired_alerts')
  }
  expect(await send(request)).toBe(200)
  expect(await effects(alertId)).toBe(1)
})
