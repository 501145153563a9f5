import { z } from 'zod'
import { type Answer, type ReceivedRequest, type Receiver, startReceiver } from './receiver.ts'

/** Jira's REST: v3 of the Cloud and v2 of a Data Center, with errors and limits as Jira answers them. */

export const JIRA_EMAIL = 'ada@acme.test'
export const JIRA_TOKEN = 'ATATT3xFfGF0123456789abcdefghij'

const CATEGORIES = { 'To Do': 'new', 'In Progress': 'indeterminate', Done: 'done' } as const
type Status = keyof typeof CATEGORIES

export type JiraTicket = {
  readonly id: string
  readonly key: string
  readonly summary: string
  readonly description: unknown
  readonly labels: readonly string[]
  status: Status
  isDeleted: boolean
  /** The search finds it. */
  isIndexed: boolean
  readonly comments: unknown[]
}

export type JiraTracker = {
  readonly url: string
  readonly tickets: JiraTicket[]
  /** Method and path of requests, in order. */
  readonly requests: string[]
  readonly faults: ((request: string) => Answer | undefined)[]
  token: string
  /** False: the screen of the project has no labels. */
  hasLabels: boolean
  readonly receiver: Receiver
}

const Node: z.ZodType<unknown> = z.lazy(() =>
  z.strictObject({
    type: z.enum(['paragraph', 'text', 'bulletList', 'listItem', 'codeBlock']),
    text: z.string().min(1).optional(),
    marks: z
      .array(z.strictObject({ type: z.enum(['strong', 'link']), attrs: z.object({ href: z.url() }).optional() }))
      .optional(),
    content: z.array(Node).optional(),
  }),
)
const Document = z.strictObject({ type: z.literal('doc'), version: z.literal(1), content: z.array(Node).min(1) })

const json = (status: number, value: unknown, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(value),
})
const failure = (status: number, message: string, errors: Record<string, string> = {}): Answer =>
  json(status, { errorMessages: message === '' ? [] : [message], errors })
export const jiraLimit = (seconds: number): Answer =>
  json(429, { message: 'Rate limit exceeded.' }, { 'Retry-After': String(seconds) })

/** @param kind cloud takes documents and an email address; server takes text and a bearer token */
export async function startJira(kind: 'cloud' | 'server' = 'cloud'): Promise<JiraTracker> {
  const isCloud = kind === 'cloud'
  const body = isCloud ? Document : z.string().min(1).max(32_767)
  const Create = z.strictObject({
    fields: z.strictObject({
      project: z.strictObject({ key: z.literal('SHOP') }),
      issuetype: z.strictObject({ id: z.literal('10004') }),
      summary: z
        .string()
        .min(1)
        .max(255)
        .regex(/^[^\n]*$/),
      description: body,
      labels: z.array(z.string().regex(/^\S{1,255}$/)).optional(),
    }),
  })
  const tickets: JiraTicket[] = []
  const requests: string[] = []
  const faults: JiraTracker['faults'] = []
  const statusOf = (name: Status) => ({ name, statusCategory: { key: CATEGORIES[name] } })
  const view = (ticket: JiraTicket) => ({ id: ticket.id, key: ticket.key, fields: { status: statusOf(ticket.status) } })

  function respond({ method, path, headers, body: bytes }: ReceivedRequest): Answer {
    const request = `${method} ${path}`
    requests.push(request)
    const fault = faults.shift()?.(request)
    if (fault !== undefined) return fault
    const expected = isCloud
      ? `Basic ${Buffer.from(`${JIRA_EMAIL}:${tracker.token}`).toString('base64')}`
      : `Bearer ${tracker.token}`
    if (headers['authorization'] !== expected)
      return failure(401, 'You do not have the permission to see the specified issue.')
    const root = `/rest/api/${isCloud ? 3 : 2}/`
    if (!path.startsWith(root)) return { status: 404, body: '<html>Not found</html>' }
    const { pathname } = new URL(path, 'http://jira.test')
    return act(method, pathname.slice(root.length), bytes.length === 0 ? undefined : JSON.parse(bytes.toString()))
  }

  function act(method: string, path: string, sent: unknown): Answer {
    if (path === 'myself') return json(200, { displayName: 'Ada', emailAddress: JIRA_EMAIL })
    const projects = [{ id: '10000', key: 'SHOP', name: 'Shop' }]
    if (path === 'project/search' && isCloud) return json(200, { values: projects, isLast: true })
    if (path === 'project' && !isCloud) return json(200, projects)
    if (path === 'issue/createmeta/SHOP/issuetypes')
      return json(200, {
        [isCloud ? 'issueTypes' : 'values']: [
          { id: '10003', name: 'Sub-task', subtask: true },
          { id: '10004', name: 'Bug', subtask: false },
        ],
      })
    if (path === 'issue' && method === 'POST') {
      const parsed = Create.safeParse(sent)
      if (!parsed.success) return failure(400, '', { description: z.prettifyError(parsed.error) })
      const { fields } = parsed.data
      if (fields.labels !== undefined && !tracker.hasLabels)
        return failure(400, '', {
          labels: "Field 'labels' cannot be set. It is not on the appropriate screen, or unknown.",
        })
      const number = tickets.length + 1
      const ticket: JiraTicket = {
        id: String(10_100 + number),
        key: `SHOP-${number}`,
        summary: fields.summary,
        description: fields.description,
        labels: fields.labels ?? [],
        status: 'To Do',
        isDeleted: false,
        isIndexed: true,
        comments: [],
      }
      tickets.push(ticket)
      return json(201, { id: ticket.id, key: ticket.key, self: `${tracker.url}/rest/api/3/issue/${ticket.id}` })
    }
    if (path === (isCloud ? 'search/jql' : 'search')) {
      const { jql } = z
        .strictObject({ jql: z.string(), fields: z.array(z.string()), maxResults: z.number() })
        .parse(sent)
      const label = /labels = "([^"]+)"/.exec(jql)?.[1] ?? ''
      return json(200, {
        issues: tickets
          .filter(
            (one) =>
              one.isIndexed &&
              !one.isDeleted &&
              (one.labels.includes(label) || JSON.stringify(one.description).includes(label)),
          )
          .map(view),
      })
    }
    const [, id, part] = /^issue\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? []
    const ticket = tickets.find((one) => (one.id === id || one.key === id) && !one.isDeleted)
    if (ticket === undefined) return failure(404, 'Issue does not exist or you do not have permission to see it.')
    if (part === undefined) return json(200, view(ticket))
    if (part === 'comment' && method === 'GET')
      return json(200, { comments: ticket.comments.map((one) => ({ body: one })) })
    if (part === 'comment') {
      ticket.comments.push(z.strictObject({ body }).parse(sent).body)
      return json(201, { id: '1' })
    }
    if (method === 'GET')
      return json(200, {
        transitions: [
          { id: '31', name: 'Done', to: statusOf('Done') },
          { id: '11', name: 'Reopen', to: statusOf('To Do') },
        ],
      })
    const { transition } = z.object({ transition: z.object({ id: z.string() }) }).parse(sent)
    ticket.status = transition.id === '11' ? 'To Do' : 'Done'
    return 204
  }

  const tracker: JiraTracker = {
    get url() {
      return this.receiver.url
    },
    tickets,
    requests,
    faults,
    token: JIRA_TOKEN,
    hasLabels: true,
    receiver: await startReceiver({ respond }),
  }
  return tracker
}
