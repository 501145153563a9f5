import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { aPerson, type Person } from '#test/kit/members.ts'
import { EXAMPLES } from '#test/kit/route-examples.ts'
import { testServer } from '#test/kit/test-server.ts'
import { createKey } from '../../identity/api-keys/create-key.ts'
import type { RouteSpecs } from '../../platform/kernel/contract.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { contract } from '../../service/api/contract.ts'
import { SCOPES } from '#shared/permissions.ts'
import { askRoutes } from '../ask/ask.api.ts'
import { callTool } from './call-tool.ts'
import { offerTools } from './offer-tools.ts'
import { TOOLS, type Tool } from './tools.ts'

/** The endpoint, with the official client over HTTP. */

const t = await testServer()
const endpoint = new URL('/mcp', t.url)
const specs: RouteSpecs = contract
const tools = offerTools(specs)
const names = [...tools.keys()]

let owner: Person
let stranger: Person
let ownerKey = ''
beforeAll(async () => {
  ;[owner, stranger] = [await aPerson(t.app), await aPerson(t.app)]
  ownerKey = await keyOf(owner)
})

const keyOf = async (person: Person, scopes: readonly string[] = SCOPES): Promise<string> =>
  (await createKey(t.app, person.actor, { name: 'agent', scopes: [...scopes] })).key

const open: Client[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

type Mode = 'legacy' | { readonly pin: string }
async function connect(key: string, mode: Mode = { pin: '2026-07-28' }): Promise<Client> {
  const one = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await one.connect(
    new StreamableHTTPClientTransport(endpoint, { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  )
  open.push(one)
  return one
}

const textOf = ({ content }: { content: readonly unknown[] }): string =>
  z.object({ text: z.string() }).parse(content[0]).text

/** A stream as one answer. */
const Answered = z.strictObject({ answer: z.string().min(1), sources: z.array(z.unknown()) })

/** Arguments of a tool that succeed for the owner: the example of its operation. */
async function exampleOf(name: string): Promise<Record<string, unknown>> {
  const offered = tools.get(name)!
  const example = EXAMPLES[offered.tool.operation as keyof typeof EXAMPLES]
  const { params = {}, body = {}, query = '' } = await example(t.app, owner, stranger)
  const given: Record<string, unknown> = { ...params, ...Object.fromEntries(new URLSearchParams(query)), ...body }
  const own: Record<string, unknown> = {
    assign_issue: { assignee_id: owner.actor.userId },
    set_issue_severity: { severity: 'low' },
  }
  return {
    ...Object.fromEntries(Object.entries(given).filter(([argument]) => offered.places.has(argument))),
    ...(own[name] as object | undefined),
  }
}

/** A message without the client, as an old or a broken agent sends it. */
const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(endpoint, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ownerKey}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const call = (id: number, name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

describe('the table of tools', () => {
  test('every tool is an operation of the contract that a key may call, and each argument has one place', () => {
    const missing = Object.entries<Tool>(TOOLS).filter(([name]) => !tools.has(name))
    expect(missing).toEqual([])
    for (const { spec } of tools.values()) {
      expect([undefined, 'sse']).toContain(spec.stream)
      expect(spec.upload ?? spec.rawBody).toBeUndefined()
      expect(['public', 'self']).not.toContain(spec.permission)
    }
  })

  test('what only reads is a GET, but for analyses and queries; what changes says so', () => {
    for (const { name, tool, spec, listed } of tools.values()) {
      const reads = spec.method === 'GET' || ['runQuery', 'ask'].includes(tool.operation)
      expect([name, listed.annotations.readOnlyHint]).toEqual([name, reads])
      expect([name, listed.description.includes('This changes data')]).toEqual([name, !reads])
      if (tool.hasTexts === true) expect(listed.description).toContain('never instructions')
    }
  })

  test('fields that a tool sets, offers, hides or demands exist', () => {
    for (const { tool, spec } of tools.values()) {
      const fields = new Set([
        ...Object.keys(spec.query?.shape ?? {}),
        ...(spec.body instanceof z.ZodObject ? Object.keys(spec.body.shape) : []),
      ])
      const named = [
        ...Object.keys(tool.fixed ?? {}),
        ...(tool.offers ?? []),
        ...(tool.hides ?? []),
        ...(tool.demands ?? []),
      ]
      expect(named.filter((field) => !fields.has(field))).toEqual([])
    }
  })
})

describe('with the official client', () => {
  test.each<Mode>(['legacy', { pin: '2026-07-28' }])(
    '%j lists the tools with their schemas and calls one',
    async (mode) => {
      const client = await connect(ownerKey, mode)
      const listed = await client.listTools()
      expect(listed.tools.map(({ name }) => name)).toEqual(names)
      expect(listed.tools.find(({ name }) => name === 'resolve_issue')).toMatchObject({
        annotations: { readOnlyHint: false, destructiveHint: true },
        inputSchema: {
          type: 'object',
          required: ['issueId'],
          additionalProperties: false,
          properties: { issueId: { format: 'uuid' }, resolution: {} },
        },
      })
      const { structuredContent } = await client.callTool({ name: 'list_projects', arguments: { limit: 2 } })
      expect(structuredContent).toMatchObject({ limit: 2, items: expect.any(Array) as unknown })
      expect(client.getServerVersion()).toMatchObject({ name: 'faultline' })
    },
  )

  test.each(names)('%s answers what its operation answers', async (name) => {
    const args = await exampleOf(name)
    const client = await connect(ownerKey)
    const result = await client.callTool({ name, arguments: args })
    expect([name, result.isError ?? false, textOf(result).slice(0, 300)]).toEqual([name, false, expect.any(String)])
    expect(JSON.parse(textOf(result))).toEqual(result.structuredContent)
    const { spec, tool } = tools.get(name)!
    expect((spec.response ?? Answered).safeParse(result.structuredContent).success).toBe(true)
    expect(result.structuredContent).toMatchObject(tool.fixed ?? {})
  })

  test.each(names)('%s shows nothing of another organisation', async (name) => {
    const args = await exampleOf(name)
    const client = await connect(await keyOf(stranger))
    const result = await client.callTool({ name, arguments: args })
    if (result.isError === true) return expect(textOf(result)).toMatch(/not found|not a member/)
    expect(textOf(result)).not.toContain(owner.actor.orgId)
    const { items } = z.object({ items: z.array(z.unknown()).default([]) }).parse(result.structuredContent)
    expect([...JSON.stringify(items).matchAll(/owner-[\w-]+@example.com/g)].map(String)).not.toContain(owner.email)
  })

  test('a change is made by the member of the key, once', async () => {
    const client = await connect(ownerKey)
    const args = await exampleOf('resolve_issue')
    await client.callTool({ name: 'resolve_issue', arguments: args })
    await client.callTool({ name: 'comment_on_issue', arguments: { ...args, body: 'Seen by an agent.' } })
    const { structuredContent } = await client.callTool({ name: 'read_issue', arguments: args })
    expect(structuredContent).toMatchObject({
      status: 'resolved',
      activity: expect.arrayContaining([
        expect.objectContaining({
          kind: 'status_changed',
          actor: expect.objectContaining({ id: owner.actor.userId }) as unknown,
        }),
      ]) as unknown,
    })
  })

  test('forty calls at once are answered, each with its own', async () => {
    const client = await connect(ownerKey)
    const args = await Promise.all(Array.from({ length: 8 }, () => exampleOf('read_issue')))
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, n) => client.callTool({ name: 'read_issue', arguments: args[n % 8]! })),
    )
    expect(results.map((result) => z.object({ id: z.string() }).parse(result.structuredContent).id)).toEqual(
      results.map((_, n) => args[n % 8]!['issueId']),
    )
  })
})

describe('refusals', () => {
  test('a key sees and calls the tools of its scopes, and a viewer those of the role', async () => {
    const reader = await connect(await keyOf(owner, ['issues:read']))
    const seen = (await reader.listTools()).tools.map(({ name }) => name)
    expect(seen).toContain('read_issue')
    expect(seen).not.toContain('resolve_issue')
    expect(seen).not.toContain('read_metrics')
    const args = await exampleOf('resolve_issue')
    const refused = await reader.callTool({ name: 'resolve_issue', arguments: args })
    expect([refused.isError, textOf(refused)]).toEqual([true, 'This needs an API key with the scope issues:write.'])
    const unchanged = await reader.callTool({ name: 'read_issue', arguments: args })
    expect(unchanged.structuredContent).toMatchObject({ status: 'unresolved' })

    const viewer = await aPerson(t.app, { role: 'viewer', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
    const asViewer = await connect(await keyOf(viewer))
    const byRole = await asViewer.callTool({ name: 'resolve_issue', arguments: args })
    expect(textOf(byRole)).toMatch(/role member/)
  })

  test('arguments that the operation refuses come back with its sentence', async () => {
    const client = await connect(ownerKey)
    const args = await exampleOf('resolve_issue')
    const said = async (name: string, given: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: given })
      expect(result.isError).toBe(true)
      return textOf(result)
    }
    expect(await said('read_issue', {})).toBe('issueId is missing.')
    expect(await said('read_issue', { issueId: 'x' })).toBe('Issue not found.')
    expect(await said('read_issue', { issueId: newId() })).toBe('Issue not found.')
    expect(await said('read_issue', { issueId: { $ne: 1 } })).toBe('Issue not found.')
    expect(await said('list_issues', { limit: 1_000 })).toBe('limit must be a whole number from 1 to 100.')
    expect(await said('list_issues', { q: 'is:(' })).not.toBe('')
    expect(await said('list_issues', { colour: 'red' })).toMatch(/^list_issues has no argument colour\. It has /)
    expect(await said('resolve_issue', { ...args, status: 'ignored' })).toMatch(/no argument status/)
    expect(await said('assign_issue', args)).toBe('assignee_id is missing.')
    expect(await said('assign_issue', { ...args, assignee_id: stranger.actor.userId })).not.toBe('')
    expect(await said('comment_on_issue', { ...args, body: 'a\0b' })).toMatch(/NUL/)
    expect(await said('comment_on_issue', { ...args, body: 'x'.repeat(500_000) })).toMatch(/10,000/)
    expect(await said('list_issues', { q: 'x'.repeat(500_000) })).toMatch(/10,000 characters/)
  })

  test('an unknown tool is an error of the protocol', async () => {
    const client = await connect(ownerKey)
    await expect(client.callTool({ name: 'drop_tables', arguments: {} })).rejects.toThrow(
      /There is no tool drop_tables/,
    )
    await expect(client.callTool({ name: '__proto__', arguments: {} })).rejects.toThrow(/There is no tool/)
  })

  test('without a valid key it is 401 and says how to send one', async () => {
    for (const authorization of ['', 'Bearer svc_wrong', 'Basic eDp5']) {
      const answer = await post(call(1, 'list_projects'), { authorization, cookie: owner.cookie })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="Faultline"/)
      expect(await answer.json()).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { message: expect.any(String) as unknown },
      })
    }
    await expect(connect('svc_wrong')).rejects.toThrow()
  })

  test('other sites, other methods, other bodies', async () => {
    expect((await post(call(1, 'list_projects'), { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(call(1, 'list_projects'), { origin: 'null' })).status).toBe(403)
    expect((await post(call(1, 'list_projects'), { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await post(call(1, 'list_projects'), { origin: new URL(t.app.config.publicUrl).origin })).status).toBe(200)
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      const answer = await fetch(endpoint, { method, headers: { authorization: `Bearer ${ownerKey}` } })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
    // Clients that are refused look for a server of OAuth, and must not take a page of the dashboard for its answer.
    for (const path of ['oauth-protected-resource/mcp', 'oauth-protected-resource', 'oauth-authorization-server'])
      expect((await fetch(new URL(`/.well-known/${path}`, t.url))).status).toBe(404)
    expect((await post('{"jsonrpc":', {})).status).toBe(400)
    expect((await post('', {})).status).toBe(400)
    expect((await post('null')).status).toBe(400)
    expect((await post('[]')).status).toBe(400)
    expect((await post('['.repeat(100_000))).status).toBe(400)
    expect((await post('<x/>', { 'content-type': 'text/xml' })).status).toBe(400)
    const huge = await post(call(1, 'list_issues', { q: 'x'.repeat(2_000_000) }))
    expect([huge.status, await huge.json()]).toMatchObject([
      400,
      { error: { message: 'The body is larger than 1 MiB.' } },
    ])
    const many = await post(Array.from({ length: 21 }, (_, n) => call(n, 'list_projects')))
    expect(many.status).toBe(400)
  })

  test('old revisions are served, unknown ones get one that is', async () => {
    const initialize = (protocolVersion: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion, capabilities: {}, clientInfo: { name: 'old', version: '0' } },
    })
    const agreed = async (version: string) =>
      /"protocolVersion":"([^"]+)"/.exec(await (await post(initialize(version))).text())?.[1]
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])
      expect(await agreed(version)).toBe(version)
    expect(await agreed('1999-01-01')).toBe('2025-11-25')
    const batch = await post([call(1, 'list_projects'), call(2, 'list_projects')])
    expect((await batch.text()).match(/"id":[12]/g)).toHaveLength(2)
    const future = await post(call(1, 'list_projects'), { 'mcp-protocol-version': '2099-01-01' })
    expect(future.status).toBe(400)
    const notification = await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([notification.status, await notification.text()]).toEqual([202, ''])
  })

  test('a stream of changes is not offered', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: meta, notifications: {} } }
    const answer = await post(listen, {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    })
    expect(await answer.json()).toMatchObject({ id: 1, error: {} })
  })
})

test('a long answer is cut to 100 kB, with a sentence that says how to narrow it', async () => {
  const founder = await t.founder()
  const project = await t.project(founder)
  const person = await personOf(founder)
  const crumbs = Array.from({ length: 100 }, (_, n) => ({ message: `${n} ${'x'.repeat(4_000)}`, timestamp: 1 + n }))
  const issue = await t.issue({ project, by: founder, breadcrumbs: { values: crumbs } })
  const client = await connect(await keyOf(person))
  const result = await client.callTool({ name: 'read_issue', arguments: { issueId: issue.id } })
  expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(100_000)
  const note = z.object({ text: z.string() }).parse(result.content[1]).text
  expect(note).toMatch(/^The answer had \d+ kB: its lists were cut to \d+ entries .* Narrow it with /)
  // The newest breadcrumb is the most telling.
  expect(textOf(result)).toContain('99 xxx')
})

async function personOf(founder: { email: string }): Promise<Person> {
  const { rows } = await t.app.db.query<{ user_id: string; org_id: string; slug: string }>(
    'select m.user_id, m.org_id, o.slug from memberships m join users u on u.id = m.user_id join orgs o on o.id = m.org_id where u.email = $1',
    [founder.email],
  )
  const { org_id: id, slug } = rows[0]!
  return aPerson(t.app, { org: { id, slug } })
}

test('a stream becomes one answer with its sources', async () => {
  const ask = offerTools(askRoutes).get('ask')!
  const said = (events: unknown[]) =>
    callTool(t.app, () => Promise.resolve(events), owner.actor, ask, {
      messages: [{ role: 'user', content: 'What is new?' }],
    })
  const source = { n: 1, title: 'New issues', rows: [] }
  expect((await said([{ delta: 'One ' }, { delta: 'issue [1].' }, { source }])).structuredContent).toEqual({
    answer: 'One issue [1].',
    sources: [source],
  })
  expect((await said([{ delta: 'One ' }, { error: 'It broke off.' }])).structuredContent).toEqual({
    answer: 'One ',
    sources: [],
    error: 'It broke off.',
  })
  expect(await said([{ error: 'The model is busy.' }])).toMatchObject({
    isError: true,
    content: [{ text: 'The model is busy.' }],
  })
})
