import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AI_PROVIDERS } from '#server/config/environment.ts'

type Provider = (typeof AI_PROVIDERS)[number]

/** How a stand-in answers: fragments of text, or a fault. */
export type ModelReply =
  | { readonly fragments: readonly string[]; readonly ending?: 'cut' | 'stall' | 'tool' | 'error' | 'again' }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | { readonly fault: 'hang' | 'huge' | 'nothing' | 'reset' }

export type ModelRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Record<string, unknown>
  /** All that was sent, as text. */
  readonly text: string
}

export type FakeModel = {
  readonly url: string
  /** Settings with which a service asks it. */
  readonly env: Readonly<Record<string, string>>
  readonly requests: ModelRequest[]
  /** Answers that are under way. */
  readonly open: () => number
  reply: (request: ModelRequest) => ModelReply
  close(): Promise<void>
}

const KEY = 'canary-model-key-5513'

/** A server that speaks one of the three wire formats as its documentation shows it. */
export async function fakeModel(provider: Provider): Promise<FakeModel> {
  let underWay = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const received: ModelRequest = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(text) as Record<string, unknown>,
        text,
      }
      model.requests.push(received)
      underWay += 1
      response.once('close', () => (underWay -= 1))
      send(response, FORMATS[provider], model.reply(received))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const model: FakeModel = {
    url,
    env: {
      AI_PROVIDER: provider,
      AI_BASE_URL: provider === 'openai' ? `${url}/v1` : url,
      AI_MODEL: 'stand-in',
      AI_API_KEY: KEY,
    },
    requests: [],
    open: () => underWay,
    reply: () => ({ fragments: ['Hello'] }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  return model
}

type Format = {
  readonly type: string
  readonly start: readonly unknown[]
  readonly text: (fragment: string) => unknown
  readonly tool: unknown
  readonly error: unknown
  readonly end: readonly unknown[]
  readonly line: (value: unknown) => string
}

const event = (value: unknown): string =>
  typeof value === 'string'
    ? `data: ${value}\n\n`
    : `${hasType(value) ? `event: ${value.type}\n` : ''}data: ${JSON.stringify(value)}\n\n`

const hasType = (value: unknown): value is { type: string } =>
  typeof value === 'object' && value !== null && 'type' in value

const chunk = (delta: unknown, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'stand-in',
  choices: [{ index: 0, delta, finish_reason: finish }],
  usage: null,
})

const FORMATS: Readonly<Record<Provider, Format>> = {
  openai: {
    type: 'text/event-stream',
    start: [chunk({ role: 'assistant', content: '' })],
    text: (content) => chunk({ content }),
    tool: chunk({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'run_sql', arguments: '{}' } }],
    }),
    error: { error: { message: 'secret text of the provider', type: 'server_error' } },
    end: [
      chunk({}, 'stop'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 120, completion_tokens: 34, total_tokens: 154 } },
      '[DONE]',
    ],
    line: event,
  },
  anthropic: {
    type: 'text/event-stream',
    start: [
      {
        type: 'message_start',
        message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 120, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
    ],
    text: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    tool: {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'run_sql', input: {} },
    },
    error: { type: 'error', error: { type: 'overloaded_error', message: 'secret text of the provider' } },
    end: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 34 } },
      { type: 'message_stop' },
    ],
    line: event,
  },
  ollama: {
    type: 'application/x-ndjson',
    start: [],
    text: (content) => ({ model: 'stand-in', message: { role: 'assistant', content }, done: false }),
    tool: {
      model: 'stand-in',
      message: { role: 'assistant', content: '', tool_calls: [{ function: { name: 'run_sql', arguments: {} } }] },
      done: false,
    },
    error: { error: 'secret text of the provider' },
    end: [
      {
        model: 'stand-in',
        message: { role: 'assistant', content: '' },
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 120,
        eval_count: 34,
      },
    ],
    line: (value) => `${JSON.stringify(value)}\n`,
  },
}

function send(response: ServerResponse, format: Format, reply: ModelReply): void {
  if ('status' in reply) return void response.writeHead(reply.status, reply.headers).end(reply.body)
  if ('fault' in reply && reply.fault === 'hang') return
  if ('fault' in reply && reply.fault === 'reset') return void response.destroy()
  response.writeHead(200, { 'content-type': format.type })
  const write = (values: readonly unknown[]): void => {
    for (const value of values) response.write(format.line(value))
  }
  if ('fault' in reply) {
    if (reply.fault === 'huge') {
      write([...format.start, format.text('x'.repeat(10_000_000))])
      return void response.end()
    }
    write([...format.start, ...format.end])
    return void response.end()
  }
  const said = reply.fragments.map((fragment) => format.text(fragment))
  // Characters of several bytes and lines arrive in pieces.
  const bytes = Buffer.from([...format.start, ...said].map((value) => format.line(value)).join(''))
  for (let at = 0; at < bytes.length; at += 97) response.write(bytes.subarray(at, at + 97))
  switch (reply.ending) {
    case 'cut':
      return void setImmediate(() => response.destroy())
    case 'stall':
      return
    case 'tool':
      write([format.tool, ...format.end])
      break
    case 'error':
      write([format.error])
      break
    case 'again':
      write([...format.end, ...format.start, format.text('A second answer'), ...format.end])
      break
    case undefined:
      write(format.end)
  }
  response.end()
}
