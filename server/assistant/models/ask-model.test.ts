import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../platform/kernel/errors.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/kernel/day.ts'
import { fakeModel } from '#test/kit/fake-model.ts'
import { aPerson, type Person } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { secondApp } from '#test/kit/second-app.ts'
import type { AssistantState } from './models.api.ts'
import { askModel, type Asked, maskPersonal } from './ask-model.ts'

const model = await fakeModel('openai')
afterAll(() => model.close())
const t = await testServer({
  env: {
    ...model.env,
    AI_REQUESTS_PER_MINUTE: '3',
    AI_TOKENS_PER_DAY: '1000',
    AI_USD_PER_MONTH: '0.01',
    AI_USD_PER_MILLION_INPUT_TOKENS: '5',
    AI_USD_PER_MILLION_OUTPUT_TOKENS: '20',
    AI_AUDIT_TEXTS: '1',
  },
})

const asked = (over: Partial<Asked> = {}): Asked => ({
  purpose: 'ask',
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'Hello' }],
  maxOutputTokens: 100,
  signal: new AbortController().signal,
  ...over,
})
const ask = (person: Person, over: Partial<Asked> = {}, app = t.app) => askModel(app, person.actor, asked(over))

const refusalOf = async (work: Promise<unknown>): Promise<AppError> => {
  const outcome: unknown = await work.catch((error: unknown) => error)
  if (outcome instanceof AppError) return outcome
  throw new Error('no AppError', { cause: outcome })
}

const stateOf = async (person: Person): Promise<AssistantState> =>
  (await (await fetch(`${t.url}/api/assistant`, { headers: { cookie: person.cookie } })).json()) as AssistantState

const Meta = z.record(z.string(), z.unknown())
const entriesOf = async (person: Person) =>
  (
    await t.app.db.query<{ action: string; meta: string }>(
      `select action, meta::text from audit_log where org_id = $1 and action like 'assistant.%' order by seq`,
      [person.actor.orgId],
    )
  ).rows.map(({ action, meta }) => ({ action, meta: Meta.parse(JSON.parse(meta)) }))

test('a call is counted with what the model says it used, and is in the audit log', async () => {
  const person = await aPerson(t.app)
  model.reply = () => ({ fragments: ['Fine.'] })
  expect(await ask(person)).toEqual({ text: 'Fine.', model: 'stand-in', tokens: 154 })
  const used = { requests: 1, input_tokens: 120, output_tokens: 34, cost_usd: (120 * 5 + 34 * 20) / 1e6 }
  expect(await stateOf(person)).toMatchObject({
    provider: 'openai',
    model: 'stand-in',
    host: new URL(model.url).host,
    today: used,
    this_month: used,
    limits: { requests_per_minute: 3, tokens_per_day: 1000, usd_per_month: 0.01 },
    keeps_texts: true,
  })
  expect(await entriesOf(person)).toEqual([
    {
      action: 'assistant.model_called',
      meta: {
        purpose: 'ask',
        model: 'stand-in',
        input_tokens: 120,
        output_tokens: 34,
        prompt: 'Hello',
        answer: 'Fine.',
      },
    },
  ])
  const other = await aPerson(t.app)
  expect((await stateOf(other)).today.requests).toBe(0)
})

test('e-mail and IP addresses do not leave', async () => {
  const person = await aPerson(t.app)
  const text = 'kim@example.com from 203.0.113.7 and 2001:db8::7 with shop@4.12.0'
  await ask(person, { system: text, messages: [{ role: 'user', content: text }] })
  const { text: sent } = model.requests.at(-1) ?? { text: '' }
  expect(sent).not.toMatch(/kim@|203\.0|2001:db8/)
  expect(sent).toContain('shop@4.12.0')
  expect(maskPersonal(text)).toBe('[e-mail] from [address] and [address] with shop@4.12.0')
})

test('the limit of a minute ends with the minute', async () => {
  const person = await aPerson(t.app)
  for (let index = 0; index < 3; index += 1) await ask(person)
  const sent = model.requests.length
  const refusal = await refusalOf(ask(person))
  expect(refusal).toMatchObject({ code: 'rate_limited' })
  expect(refusal.message).toContain('3 times in this minute')
  expect(refusal.details.retryAfterSeconds).toBe(60)
  expect(model.requests.length).toBe(sent)
  t.clock.advance(MINUTE_MS)
  expect((await ask(person)).text).toBe('Fine.')
})

test('the limit of a day counts what a call may use before it is sent, and ends with the day', async () => {
  const person = await aPerson(t.app)
  const refusal = await refusalOf(ask(person, { maxOutputTokens: 1_000 }))
  expect(refusal.message).toContain('1,000 tokens')
  expect((await stateOf(person)).today.requests).toBe(0)
  for (let index = 0; index < 6; index += 1) {
    await ask(person)
    t.clock.advance(MINUTE_MS)
  }
  expect((await refusalOf(ask(person))).message).toContain('tokens')
  t.clock.advance(DAY_MS)
  expect((await ask(person)).text).toBe('Fine.')
})

test('the limit of a month counts its days together', async () => {
  const person = await aPerson(t.app)
  t.clock.set('2026-11-25T12:00:00Z')
  await t.app.db.query(
    `insert into assistant_usage (org_id, day, requests, cost_micros, minute) values ($1, '2026-11-02', 9, 9000, now())`,
    [person.actor.orgId],
  )
  expect((await refusalOf(ask(person))).message).toContain('0.01 USD')
  t.clock.set('2026-12-01T00:00:00Z')
  expect((await ask(person)).text).toBe('Fine.')
})

test('calls of two processes at once do not pass a limit together', async () => {
  const person = await aPerson(t.app)
  const second = await secondApp(t)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => ask(person, { maxOutputTokens: 10 }, index % 2 === 0 ? t.app : second)),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(3)
})

test('what failed is in the audit log, and costs nothing when nothing was sent to the model', async () => {
  const person = await aPerson(t.app)
  model.reply = () => ({ status: 401 })
  await expect(ask(person)).rejects.toThrow('AI_API_KEY')
  expect((await stateOf(person)).today).toEqual({ requests: 1, input_tokens: 0, output_tokens: 0, cost_usd: 0 })
  model.reply = () => ({ fragments: ['Half an'], ending: 'cut' })
  await expect(ask(person)).rejects.toThrow('broke off')
  const { today } = await stateOf(person)
  expect(today.input_tokens).toBeGreaterThan(0)
  expect(today.output_tokens).toBe(3)
  const [refused, cut] = await entriesOf(person)
  expect(refused?.meta).toMatchObject({ error: expect.stringContaining('401') as unknown, answer: '' })
  expect(cut?.meta).toMatchObject({ error: expect.stringContaining('broke off') as unknown, answer: 'Half an' })
  expect(JSON.stringify(t.logLines)).not.toContain('canary-model-key')
})
