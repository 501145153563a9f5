import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config/config.ts'
import { AI_PROVIDERS } from '../../config/environment.ts'
import { fakeModel, type ModelReply } from '#test/kit/fake-model.ts'
import { startReceiver } from '#test/kit/receiver.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { ModelError } from './model-error.ts'
import { streamModel, type ModelCall } from './stream-model.ts'
import { wires, type Model } from './wire.ts'

const t = await testApp()
const PROMPT = {
  system: 'Be brief.',
  messages: [{ role: 'user' as const, content: 'Wie geht’s? 🐙' }],
  maxOutputTokens: 50,
}
const LIMITS = { firstMs: 5_000, idleMs: 5_000, allMs: 10_000 }

function modelOf(env: Readonly<Record<string, string>>): Model {
  const { model } = readConfig(env).ai
  if (model === null) throw new Error('no model')
  return model
}

const call = (model: Model, over: Partial<ModelCall> = {}) =>
  streamModel(t.app, {
    model,
    prompt: PROMPT,
    orgId: 'org',
    signal: new AbortController().signal,
    onDelta: () => {},
    limits: LIMITS,
    ...over,
  })

async function failureOf(model: Model, over: Partial<ModelCall> = {}): Promise<ModelError> {
  const outcome: unknown = await call(model, over).catch((error: unknown) => error)
  if (outcome instanceof ModelError) return outcome
  throw new Error('no ModelError', { cause: outcome })
}

describe.each(AI_PROVIDERS)('%s', (provider) => {
  const servers = fakeModel(provider)
  t.onClose(async () => (await servers).close())

  test('says what is asked in its format, and an answer comes in fragments', async () => {
    const server = await servers
    const fragments = ['Gut, ', 'danke ', '🐙', '!\nUnd dir?']
    server.reply = () => ({ fragments })
    const deltas: string[] = []
    const answer = await call(modelOf(server.env), { onDelta: (text) => void deltas.push(text) })
    expect(answer).toEqual({ text: fragments.join(''), inputTokens: 120, outputTokens: 34 })
    expect(deltas).toEqual(fragments)
    const request = server.requests.at(-1)
    expect(request?.path).toBe(
      { openai: '/v1/chat/completions', anthropic: '/v1/messages', ollama: '/api/chat' }[provider],
    )
    expect(request?.headers).toMatchObject(
      provider === 'anthropic'
        ? { 'x-api-key': 'canary-model-key-5513', 'anthropic-version': '2023-06-01' }
        : { authorization: 'Bearer canary-model-key-5513' },
    )
    expect(request?.body).toMatchObject({
      model: 'stand-in',
      stream: true,
      ...{
        openai: { max_tokens: 50, messages: [{ role: 'system', content: 'Be brief.' }, PROMPT.messages[0]] },
        anthropic: { max_tokens: 50, system: 'Be brief.', messages: PROMPT.messages },
        ollama: {
          options: { num_predict: 50 },
          messages: [{ role: 'system', content: 'Be brief.' }, PROMPT.messages[0]],
        },
      }[provider],
    })
    expect(request?.body).not.toHaveProperty('tools')
  })

  test.each<readonly [string, ModelReply, ModelError['code'], RegExp]>([
    ['401', { status: 401, body: '{"error":"secret text of the provider"}' }, 'refused', /AI_API_KEY.*401/],
    ['404', { status: 404 }, 'refused', /AI_BASE_URL and AI_MODEL.*404/],
    ['429', { status: 429, headers: { 'retry-after': '17' } }, 'busy', /in 17 seconds/],
    ['429 without a time', { status: 429, headers: { 'retry-after': 'soon' } }, 'busy', /later/],
    ['500', { status: 500, body: 'x'.repeat(100_000) }, 'broken', /failed.*500/],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1/' } }, 'refused', /302/],
    [
      'a page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html>\n<p>Welcome' },
      'broken',
      /another format/,
    ],
    ['JSON of another kind', { status: 200, body: '[1]\n' }, 'broken', /another format/],
    ['a cut stream', { fragments: ['Half an'], ending: 'cut' }, 'broken', /broke off/],
    ['an error in the stream', { fragments: ['Half an'], ending: 'error' }, 'broken', /reported an error/],
    ['a tool that was not offered', { fragments: ['Wait.'], ending: 'tool' }, 'broken', /called a tool/],
    ['nothing', { fault: 'nothing' }, 'broken', /answered nothing/],
    ['10 MB', { fault: 'huge' }, 'too_long', /too long/],
    ['a reset', { fault: 'reset' }, 'unreachable', /cannot be reached/],
  ])('%s ends with a sentence for the user', async (_what, reply, code, sentence) => {
    const server = await servers
    server.reply = () => reply
    const error = await failureOf(modelOf(server.env))
    expect(error.code).toBe(code)
    expect(error.message).toMatch(sentence)
    expect(error.message).not.toMatch(/secret|canary/)
    await waitFor('the connection to end', () => server.open() === 0)
  })

  test('of two answers the first counts', async () => {
    const server = await servers
    server.reply = () => ({ fragments: ['One.'], ending: 'again' })
    expect((await call(modelOf(server.env))).text).toBe('One.')
  })

  test.each<readonly [string, ModelReply]>([
    ['hangs', { fault: 'hang' }],
    ['stalls', { fragments: ['Well, '], ending: 'stall' }],
  ])('one that %s ends with its time', async (_what, reply) => {
    const server = await servers
    server.reply = () => reply
    const error = await failureOf(modelOf(server.env), { limits: { firstMs: 60, idleMs: 60, allMs: 5_000 } })
    expect(error.code).toBe('too_late')
    await waitFor('the connection to end', () => server.open() === 0)
  })

  test('a signal ends the call and its connection', async () => {
    const server = await servers
    server.reply = () => ({ fragments: ['Well, '], ending: 'stall' })
    const stop = new AbortController()
    const error = await failureOf(modelOf(server.env), { signal: stop.signal, onDelta: () => stop.abort() })
    expect(error.code).toBe('cancelled')
    await waitFor('the connection to end', () => server.open() === 0)
  })
})

test('an address without a listener, and one that the rules refuse', async () => {
  const closed = await startReceiver()
  await closed.close()
  const base = { AI_PROVIDER: 'ollama', AI_MODEL: 'm' }
  expect((await failureOf(modelOf({ ...base, AI_BASE_URL: closed.url }))).message).toContain(
    'AI_BASE_URL (ECONNREFUSED)',
  )
  expect((await failureOf(modelOf({ ...base, AI_BASE_URL: 'http://10.0.0.7:11434' }))).message).toContain(
    'docs/egress.md',
  )
})

test('the newer models of OpenAI get the name of the bound that they know', () => {
  const model = modelOf({ AI_PROVIDER: 'openai', AI_MODEL: 'm' })
  expect(wires.openai.body(model, PROMPT)).toMatchObject({ max_completion_tokens: 50 })
})
